import { ListGroups, ListUserPats } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { UsageList } from '../../../components/resources/usage-list.tsx';
import { formatCount } from '../../../text/format-number.ts';

/** The tokens and the groups of a user, shown before the user is deactivated or deleted. */
export const TokensAndGroupsOfUser = ({ id }: { readonly id: number }) => {
  const tokens = useQuery(operationQuery(ListUserPats, { params: { id } }));
  const groups = useQuery(operationQuery(ListGroups, {}));
  return (
    <>
      <UsageList
        query={tokens}
        title={(n) => `${formatCount(n, 'token')} will stop working:`}
        emptyText="The user has no tokens."
        uses={({ pats }) => pats.map((pat) => ({ key: String(pat.id), node: pat.description }))}
      />
      <UsageList
        query={groups}
        title={(n) => `Member of ${formatCount(n, 'group')}:`}
        emptyText="The user is in no group."
        uses={(data) =>
          data.groups
            .filter(({ users }) => users.some(({ user }) => user.id === id))
            .map((group) => ({ key: String(group.id), node: group.name }))
        }
      />
    </>
  );
};
