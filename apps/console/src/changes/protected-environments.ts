import { GetChangeRequestConfig, type ReplyOf } from '@bunting/contracts';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { operationQuery } from '../api/queries.ts';

/** The query of which environments of a project are protected. */
export const changeRequestConfigQuery = (projectId: string) =>
  queryOptions({ ...operationQuery(GetChangeRequestConfig, { params: { projectId } }), staleTime: 60_000 });

/** The environments in which changes need a change request, those of production first. */
export const protectedEnvironmentsOf = (config: ReplyOf<typeof GetChangeRequestConfig>): readonly string[] =>
  config
    .filter(({ changeRequestEnabled }) => changeRequestEnabled)
    .toSorted((one, other) => Number(other.type === 'production') - Number(one.type === 'production'))
    .map(({ environment }) => environment);

/**
 * As `protectedEnvironmentsOf`, of this moment: before a change is made, since a page that is open may have read it long ago.
 * @throws ApiError
 */
export const readProtectedEnvironments = async (client: QueryClient, project: string): Promise<readonly string[]> =>
  protectedEnvironmentsOf(await client.fetchQuery({ ...changeRequestConfigQuery(project), staleTime: 0 }));
