import { type Bus, call, type CallContext } from '@bunting/bus';
import { SetProtection } from '@bunting/contracts';
import type { PendingWorkReader } from '../persistence/pending-work.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';

/**
 * Sends unconfirmed changes of environment protection to the features service, which refuses direct edits there. That service ignores
 * older versions, so replicas may send the same change concurrently or twice.
 */
export type SyncProtection = (context: CallContext) => Promise<void>;

export const protectionSync =
  (bus: Bus, pendingWork: PendingWorkReader, work: UnitOfWork): SyncProtection =>
  async (context) => {
    for (const { version, project, environment, isProtected } of await pendingWork.unsyncedProtections()) {
      await call(bus, SetProtection, { body: { version, project, environment, isProtected } }, context);
      await work(context.traceparent, ({ schedules }) => schedules.protectionSynced(version));
    }
  };
