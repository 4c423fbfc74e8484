import { ListGroups, ListUserTokens } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../../api/queries.ts';
import type { Option } from '../../../components/forms/fields.tsx';
import { Uses } from '../../../components/uses.tsx';
import { peopleMessages as text } from '../../../messages/people.ts';
import styles from './people.module.css';

interface Named {
  readonly id: number;
  readonly name?: string | null | undefined;
  readonly username?: string | null | undefined;
  readonly email?: string | null | undefined;
}

/** What a person is called: by the first of name, username and e-mail address that is set. */
export const nameOf = ({ id, name, username, email }: Named): string => name || username || email || `#${id}`;

/** A person in a list: the name, and below it how else they are known. */
export const PersonCell = ({ person }: { readonly person: Named }) => {
  const name = nameOf(person);
  const others = [person.username, person.email].filter((one) => one != null && one !== '' && one !== name);
  return (
    <div className={styles['person']}>
      <strong>
        <bdi>{name}</bdi>
      </strong>
      {others.length > 0 && <span>{others.join(' · ')}</span>}
    </div>
  );
};

interface Role {
  readonly id: number;
  readonly name: string;
  readonly description: string;
}

export const roleOptions = (roles: readonly Role[]): Option[] =>
  roles.map(({ id, name, description }) => ({ id: String(id), label: name, about: description }));

/** What of a user depends on the user: the tokens, and the groups. */
export const UsesOfUser = ({ id }: { readonly id: number }) => {
  const tokens = useQuery(read(ListUserTokens, { params: { id } }));
  const groups = useQuery(read(ListGroups, {}));
  return (
    <>
      <Uses
        query={tokens}
        title={text.tokensOf}
        none={text.noTokensOf}
        uses={({ pats }) => pats.map((pat) => ({ key: String(pat.id), node: pat.description }))}
      />
      <Uses
        query={groups}
        title={text.groupsOf}
        none={text.noGroupsOf}
        uses={(data) =>
          data.groups
            .filter(({ users }) => users.some(({ user }) => user.id === id))
            .map((group) => ({ key: String(group.id), node: group.name }))
        }
      />
    </>
  );
};
