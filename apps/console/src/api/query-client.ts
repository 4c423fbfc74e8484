import { retryOutcomes } from '@bunting/contracts';
import { MutationCache, type QueryClient, QueryClient as Client } from '@tanstack/react-query';
import { ApiError, type FailureKind } from './api-error.ts';

/** The kinds of the console's own are no kinds of the API. */
function isTemporaryKind(kind: FailureKind): boolean {
  if (kind === 'Offline' || kind === 'UnexpectedResponse') return kind === 'Offline';
  return retryOutcomes[kind] === 'may succeed';
}

/** Whether a retry of a read may help. */
function isTemporary(error: unknown): error is ApiError {
  return error instanceof ApiError && isTemporaryKind(error.kind);
}

/** Milliseconds until a query is retried: the server's `Retry-After`, else exponential backoff. */
function retryDelay(attempt: number, error: unknown): number {
  return isTemporary(error) && error.retryAfterSeconds !== undefined
    ? Math.min(error.retryAfterSeconds, 30) * 1_000
    : Math.min(500 * 2 ** attempt, 8_000);
}

const maxWaitForReadsMs = 1_000;
function delay(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/**
 * The client of all pages. Every mutation, successful or not, invalidates all queries but those with `isUnaffected`, of which the client reads again those that the page
 * shows and the others when they are next shown. A mutation that succeeds stays pending until the page is up to date, but no longer than a
 * second: a read whose service is away is retried for longer.
 */
export function createQueryClient(): QueryClient {
  return new Client({
    mutationCache: new MutationCache({
      onSettled: (_data, error, _variables, _result, _mutation, { client }) => {
        const readAgain = client.invalidateQueries({ predicate: ({ meta }) => meta?.['isUnaffected'] !== true });
        return error === null ? Promise.race([readAgain, delay(maxWaitForReadsMs)]) : undefined;
      },
    }),
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
}
