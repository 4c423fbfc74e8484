import {
  type AnyOperation,
  GetMe,
  ListEnvironments,
  ListProjects,
  ListSegmentSummaries,
  type ReplyOf,
} from '@bunting/contracts';
import { keepPreviousData, queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { notifyError } from '../shell/toasts.tsx';
import type { ApiError } from './api-error.ts';
import { call, type CallRequest, callWithEntityTag } from './call.ts';

/** The key of a query that calls an operation; without `parts`, the common start of the keys of all its queries. */
export function operationKey(operation: AnyOperation, ...parts: readonly unknown[]) {
  return [operation.operationId, ...parts] as const;
}

/** The query of an operation that reads. */
export function operationQuery<O extends AnyOperation>(operation: O, request: Omit<CallRequest<O>, 'signal'>) {
  return queryOptions({
    queryKey: operationKey(operation, request),
    queryFn: ({ signal }): Promise<ReplyOf<O>> => call(operation, { ...request, signal } as CallRequest<O>),
  });
}

/** As `operationQuery`; the data also has the entity tag, for a later write with `ifMatch`. */
export function operationQueryWithEntityTag<O extends AnyOperation>(
  operation: O,
  request: Omit<CallRequest<O>, 'signal'>,
) {
  return queryOptions({
    queryKey: operationKey(operation, request, 'tagged'),
    queryFn: ({ signal }) => callWithEntityTag(operation, { ...request, signal } as CallRequest<O>),
  });
}

/**
 * A mutation that calls an operation.
 * @param failure `notified` shows an error in the corner; with `handled` the caller shows it: the mutation's `error`, or what it catches
 * @param onSuccess called before the queries that the page shows are read again
 */
export function useOperationMutation<O extends AnyOperation>(
  operation: O,
  failure: 'handled' | 'notified',
  onSuccess?: (reply: ReplyOf<O>) => void,
) {
  return useMutation<ReplyOf<O>, ApiError, CallRequest<O>>({
    mutationFn: (request) => call(operation, request),
    ...(onSuccess && { onSuccess }),
    ...(failure === 'notified' && { onError: notifyError }),
  });
}

export function useMe() {
  return useQuery({ ...operationQuery(GetMe, {}), staleTime: 60_000 });
}

/** Whether a person uses the page, and neither a service account nor a key that belongs to nobody; false until that is known. */
export function useIsPerson(): boolean {
  const user = useMe().data?.user;
  return user?.isAPI === false && user.accountType !== 'Service Account';
}
export function useProjects() {
  return useQuery({ ...operationQuery(ListProjects, {}), staleTime: 60_000, placeholderData: keepPreviousData });
}
export function useEnvironments() {
  return useQuery({ ...operationQuery(ListEnvironments, {}), staleTime: 60_000 });
}

/** The segments with the first values of their constraints: all of them can be megabytes. */
export function useSegmentSummaries({ isNeeded = true }: { readonly isNeeded?: boolean } = {}) {
  return useQuery({ ...operationQuery(ListSegmentSummaries, {}), staleTime: 60_000, enabled: isNeeded });
}

/** The names of all segments by their ids. */
export function useSegmentNames(): ReadonlyMap<number, string> {
  const { data } = useSegmentSummaries();
  return new Map((data?.segments ?? []).map(({ id, name }) => [id, name]));
}
