import { type AnyOperation, serviceOf } from '@bunting/contracts';
import type { Projection } from '@bunting/outbox';

interface RefreshRightsOptions {
  readonly projects: Pick<Projection, 'catchUp'>;
  readonly invalidateCache: () => void;
  readonly waitMs: number;
}

/**
 * Returns a function that is called after a write, so that the next request is authorised by it: the creator of a project owns it, and a
 * private project is hidden. It waits, at most `waitMs` milliseconds, until the gateway has applied a change of projects, and drops the
 * cached principals after this and after each write of the gateway's own. After a timeout the response is sent nevertheless, because the
 * write is committed.
 */
export const refreshRightsAfterWrite =
  ({ projects, invalidateCache, waitMs }: RefreshRightsOptions) =>
  async (operation: AnyOperation): Promise<void> => {
    if (operation.changesProjectVisibility) await projects.catchUp(waitMs);
    else if (serviceOf(operation) !== 'gateway') return;
    invalidateCache();
  };
