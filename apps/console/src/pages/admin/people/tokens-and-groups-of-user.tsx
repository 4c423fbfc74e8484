import { ListGroups, ListUserPats } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { UsageList } from '../../../components/resources/usage-list.tsx';
import { peopleMessages as text } from '../../../messages/administration/people.ts';

/** The tokens and the groups of a user, shown before the user is deactivated or deleted. */
export const TokensAndGroupsOfUser = ({ id }: { readonly id: number }) => {
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
