import type { AnyOperation, ReplyOf } from '@bunting/contracts';
import { useMutation } from '@tanstack/react-query';
import type { ApiError } from './api-error.ts';
import { call, type CallRequest } from './call.ts';

/**
 * A mutation that calls an operation. It invalidates the queries that the operation's tag makes stale; a mutation of several operations,
 * made by `useMutation`, invalidates all. @param onSuccess called before the queries are invalidated
 */
export const useOperationMutation = <O extends AnyOperation>(operation: O, onSuccess?: (reply: ReplyOf<O>) => void) =>
  useMutation<ReplyOf<O>, ApiError, CallRequest<O>>({
    mutationFn: (request) => call(operation, request),
    meta: { operation },
    ...(onSuccess && { onSuccess }),
  });
