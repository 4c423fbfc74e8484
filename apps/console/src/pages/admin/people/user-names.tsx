import type { SelectOption } from '../../../components/forms/fields.tsx';
import { Initials } from '../../../components/content/initials.tsx';
import styles from './people.module.css';

interface NamedUser {
  readonly id: number;
  readonly name?: string | null | undefined;
  readonly username?: string | null | undefined;
  readonly email?: string | null | undefined;
}

/** The name under which a user is shown: the first of name, username and e-mail address that is set, else the id. */
export function displayNameOf({ id, name, username, email }: NamedUser): string {
  return name || username || email || `#${id}`;
}

/** The names of a user in a list: the display name, and below it the username and e-mail address that it leaves out. */
export function UserNames({ user }: { readonly user: NamedUser }) {
  const name = displayNameOf(user);
  const others = [user.username, user.email].filter((other) => other != null && other !== '' && other !== name);
  return (
    <div className={styles['person']}>
      <Initials name={name} />
      <div className={styles['twoLines']}>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        {others.length > 0 && <span>{others.join(' · ')}</span>}
      </div>
    </div>
  );
}

interface Role {
  readonly id: number;
  readonly name: string;
  readonly description: string;
}

/** The choices of a select for roles. */
export function roleOptions(roles: readonly Role[]): SelectOption[] {
  return roles.map(({ id, name, description }) => ({ id: String(id), label: name, description }));
}
