import styles from './people.module.css';

interface Named {
  readonly id: number;
  readonly name?: string | null | undefined;
  readonly username?: string | null | undefined;
  readonly email?: string | null | undefined;
}

/** What a user is called: by the first of name, username and e-mail address that is set. */
export const displayNameOf = ({ id, name, username, email }: Named): string => name || username || email || `#${id}`;

/** A user in a list: the display name, and below it the username or e-mail address. */
export const UserCell = ({ user }: { readonly user: Named }) => {
  const name = displayNameOf(user);
  const others = [user.username, user.email].filter((one) => one != null && one !== '' && one !== name);
  return (
    <div className={styles['twoLines']}>
      <strong>
        <bdi>{name}</bdi>
      </strong>
      {others.length > 0 && <span>{others.join(' · ')}</span>}
    </div>
  );
};
