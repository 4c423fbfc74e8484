import type { Bus, CallContext } from '@bunting/bus';
import { SetProtection } from '@bunting/contracts';
import { call } from '../../calls.ts';
import type { DueJobsReader } from '../../schedules/schedule-store.ts';
import type { UnitOfWork } from '../../unit-of-work/unit-of-work.ts';

/**
 * Sends unsynced changes of environment protection to the features service, which refuses direct edits there. That service ignores
 * older versions, so replicas may send the same change concurrently or twice.
 */
export type SyncProtection = (context: CallContext) => Promise<void>;

export const protectionSync =
  (bus: Bus, dueJobs: DueJobsReader, transaction: UnitOfWork): SyncProtection =>
  async (context) => {
    let hasMore: boolean;
    do {
      hasMore = false;
      for (const change of await dueJobs.unsyncedProtections()) {
        const stored = await call(bus, SetProtection, { body: change }, context);
        const mustBeSentAgain = await transaction(context, ({ protections }) => protections.markSynced(change, stored));
        hasMore ||= mustBeSentAgain;
      }
    } while (hasMore);
  };
