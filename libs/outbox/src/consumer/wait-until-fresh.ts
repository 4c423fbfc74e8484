import type { OperationRequest } from '@bunting/bus';
import { type AnyOperation, staleHeader } from '@bunting/contracts';

/** The projection that reads wait for, and how long. */
export interface AwaitedProjection {
  /** waits up to `timeoutMs` until the projection is fresh; resolves with the milliseconds by which it is stale */
  readonly catchUp: (timeoutMs: number) => Promise<number>;
  /** milliseconds for which a read waits at most */
  readonly freshnessWaitMs: number;
}

/** The part of a request that the wait needs. */
export type TimedRequest = Pick<OperationRequest<AnyOperation>, 'now' | 'deadline' | 'setHeader'>;

/** The part of the deadline that is reserved for the read itself. */
const readTimeMs = 250;

/** Returns a function that waits until a projection is fresh, within the deadline of a request, and sets `Bunting-Stale` when it is not. */
export const waitUntilFresh =
  ({ catchUp, freshnessWaitMs }: AwaitedProjection) =>
  async ({ now, deadline, setHeader }: TimedRequest): Promise<void> => {
    const remainingMs = deadline.getTime() - now.getTime() - readTimeMs;
    const behindMs = await catchUp(Math.max(0, Math.min(freshnessWaitMs, remainingMs)));
    if (behindMs > 0) setHeader(staleHeader, String(behindMs));
  };
