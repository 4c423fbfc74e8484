import type { OperationRequest } from '@bunting/bus';
import { type AnyOperation, staleHeader } from '@bunting/contracts';

/** The projection that reads wait for, and how long. */
export interface Freshness {
  /** waits up to `timeoutMs` until the projection is fresh; resolves with the milliseconds by which it is stale */
  readonly catchUp: (timeoutMs: number) => Promise<number>;
  /** milliseconds for which a read waits at most */
  readonly freshnessWaitMs: number;
}

/** The part of a request that the wait needs. */
export type TimedRequest = Pick<OperationRequest<AnyOperation>, 'now' | 'deadline' | 'setHeader'>;

/** The part of the deadline that is reserved for the read itself. */
const readTimeMs = 250;

/** Waits until a projection is fresh, within the deadline of the request. Sets `Bunting-Stale` when it is not. */
export const waitUntilFresh =
  ({ catchUp, freshnessWaitMs }: Freshness) =>
  async ({ now, deadline, setHeader }: TimedRequest): Promise<void> => {
    const remainingMs = deadline.getTime() - now.getTime() - readTimeMs;
    const behindMs = await catchUp(Math.max(0, Math.min(freshnessWaitMs, remainingMs)));
    if (behindMs > 0) setHeader(staleHeader, String(behindMs));
  };
