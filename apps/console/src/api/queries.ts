import {
  type AnyOperation,
  GetMe,
  ListEnvironments,
  ListProjects,
  type ReplyOf,
  retryOutcomes,
} from '@bunting/contracts';
import {
  keepPreviousData,
  type QueryClient,
  QueryClient as Client,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { ApiError, type FailureKind } from './api-error.ts';
import { call, type CallRequest, callWithEntityTag } from './call.ts';

/** The kinds of the console's own are no kinds of the API. */
const isTemporaryKind = (kind: FailureKind): boolean => {
  if (kind === 'Offline' || kind === 'UnexpectedResponse') return kind === 'Offline';
  return retryOutcomes[kind] === 'may succeed';
};

/** Whether a retry of a read may help. */
const isTemporary = (error: unknown): error is ApiError => error instanceof ApiError && isTemporaryKind(error.kind);

/** Milliseconds until a query is retried: the server's `Retry-After`, else exponential backoff. */
const retryDelay = (attempt: number, error: unknown): number =>
  isTemporary(error) && error.retryAfterSeconds !== undefined
    ? Math.min(error.retryAfterSeconds, 30) * 1_000
    : Math.min(500 * 2 ** attempt, 8_000);

export const createQueryClient = (): QueryClient =>
  new Client({
    defaultOptions: {
      queries: {
        networkMode: 'always',
        staleTime: 5_000,
        retry: (failures, error) => isTemporary(error) && failures < 4,
        retryDelay,
      },
      // A write carries an Idempotency-Key, but only the user decides on a retry. Replies, which may hold secrets, are not cached.
      mutations: { networkMode: 'always', retry: false, gcTime: 0 },
    },
  });

/** The query of an operation that reads. Its key begins with the operation's id, so that writes can invalidate it. */
export const operationQuery = <O extends AnyOperation>(operation: O, request: Omit<CallRequest<O>, 'signal'>) =>
  queryOptions({
    queryKey: [operation.operationId, request] as const,
    queryFn: ({ signal }): Promise<ReplyOf<O>> => call(operation, { ...request, signal } as CallRequest<O>),
  });

/** As `operationQuery`; the data also has the entity tag, for a later write with `ifMatch`. */
export const operationQueryWithEntityTag = <O extends AnyOperation>(
  operation: O,
  request: Omit<CallRequest<O>, 'signal'>,
) =>
  queryOptions({
    queryKey: [operation.operationId, request, 'tagged'] as const,
    queryFn: ({ signal }) => callWithEntityTag(operation, { ...request, signal } as CallRequest<O>),
  });

/** A mutation that calls an operation. @param invalidates operations whose cached replies the write invalidates */
export const useOperationMutation = <O extends AnyOperation>(operation: O, invalidates: readonly AnyOperation[]) => {
  const client = useQueryClient();
  return useMutation<ReplyOf<O>, ApiError, CallRequest<O>>({
    mutationFn: (request) => call(operation, request),
    onSettled: () =>
      Promise.all(invalidates.map(({ operationId }) => client.invalidateQueries({ queryKey: [operationId] }))),
  });
};

export const useMe = () => useQuery({ ...operationQuery(GetMe, {}), staleTime: 60_000 });
export const useProjects = () =>
  useQuery({ ...operationQuery(ListProjects, {}), staleTime: 60_000, placeholderData: keepPreviousData });
export const useEnvironments = () => useQuery({ ...operationQuery(ListEnvironments, {}), staleTime: 60_000 });
