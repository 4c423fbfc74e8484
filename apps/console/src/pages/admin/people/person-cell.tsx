import { ListGroups, ListUserPats } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../api/queries.ts';
import type { Option } from '../../../components/forms/fields.tsx';
import { UsageList } from '../../../components/usage-list.tsx';
import { peopleMessages as text } from '../../../messages/administration/people.ts';
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

interface Role {
  readonly id: number;
  readonly name: string;
  readonly description: string;
}

export const roleOptions = (roles: readonly Role[]): Option[] =>
  roles.map(({ id, name, description }) => ({ id: String(id), label: name, about: description }));

/** What of a user depends on the user: the tokens, and the groups. */
export const UsagesOfUser = ({ id }: { readonly id: number }) => {
  const tokens = useQuery(operationQuery(ListUserPats, { params: { id } }));
  const groups = useQuery(operationQuery(ListGroups, {}));
  return (
    <>
      <UsageList
        query={tokens}
        title={text.tokensOf}
        emptyText={text.noTokensOf}
        uses={({ pats }) => pats.map((pat) => ({ key: String(pat.id), node: pat.description }))}
      />
      <UsageList
        query={groups}
        title={text.groupsOf}
        emptyText={text.noGroupsOf}
        uses={(data) =>
          data.groups
            .filter(({ users }) => users.some(({ user }) => user.id === id))
            .map((group) => ({ key: String(group.id), node: group.name }))
        }
      />
    </>
  );
};
