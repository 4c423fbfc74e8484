import styles from './people.module.css';

interface Named {
  readonly id: number;
  readonly name?: string | null | undefined;
  readonly username?: string | null | undefined;
  readonly email?: string | null | undefined;
}

/** What a person is called: by the first of name, username and e-mail address that is set. */
export const displayNameOf = ({ id, name, username, email }: Named): string => name || username || email || `#${id}`;

/** A person in a list: the display name, and below it the username or e-mail address. */
export const PersonCell = ({ person }: { readonly person: Named }) => {
  const name = displayNameOf(person);
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
