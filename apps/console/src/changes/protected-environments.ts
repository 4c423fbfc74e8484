import { GetChangeRequestConfig, type ReplyOf } from '@bunting/contracts';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { operationQuery } from '../api/queries-and-mutations.ts';

/** The query for the environments of a project and their protection by change requests. */
export const changeRequestConfigQuery = (projectId: string) =>
  queryOptions({ ...operationQuery(GetChangeRequestConfig, { params: { projectId } }), staleTime: 60_000 });

/** The environments in which changes need a change request, those of production first. */
export const protectedEnvironmentsOf = (config: ReplyOf<typeof GetChangeRequestConfig>): readonly string[] =>
  config
    .filter(({ changeRequestEnabled }) => changeRequestEnabled)
    .toSorted((one, other) => Number(other.type === 'production') - Number(one.type === 'production'))
    .map(({ environment }) => environment);

/**
 * Reads the protected environments of a project from the server, without the cache: for a decision just before a change is made.
 * @throws ApiError
 */
export const readProtectedEnvironments = async (client: QueryClient, project: string): Promise<readonly string[]> =>
  protectedEnvironmentsOf(await client.fetchQuery({ ...changeRequestConfigQuery(project), staleTime: 0 }));
