import { type AnyOperation, serviceOf } from '@bunting/contracts';
import type { Projection } from '@bunting/outbox';

interface AwaitRightsOptions {
  readonly projects: Pick<Projection, 'catchUp'>;
  readonly invalidateCache: () => void;
  readonly waitMs: number;
}

/**
 * Returns a function that waits, at most `waitMs` milliseconds, until the gateway has applied a change of projects or rights, so that the next
 * request is authorised by it: the creator of a project owns it, and a private project is hidden. After a timeout the response is sent
 * nevertheless, because the write is committed.
 */
export const awaitRightsProjection =
  ({ projects, invalidateCache, waitMs }: AwaitRightsOptions) =>
  async (operation: AnyOperation): Promise<void> => {
    if (operation.changesProjectVisibility) await projects.catchUp(waitMs);
    else if (serviceOf(operation) !== 'gateway') return;
    invalidateCache();
  };
