import { skipRevisionsAfterRestore } from '../../apps/features/src/persistence/skip-revisions-after-restore.ts';
import { BackupError } from './backup-error.ts';
import type { ServiceDatabase } from './service-databases.ts';
import { connectTo, requireUnused } from './snapshots.ts';

/** A time of RFC 3339, which has `Z` or an offset: without one it would depend on the zone of the shell. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)$/;

/**
 * Skips the revisions that SDKs may have got since a time, in databases that were restored by other means to their state at it.
 * @throws BackupError if the time is none or has no offset, or a service runs
 */
export const skipDeliveryRevisionsSince = async (
  databases: readonly ServiceDatabase[],
  time: string,
): Promise<void> => {
  const at = new Date(time);
  if (!rfc3339.test(time) || Number.isNaN(at.getTime()) || at.getTime() > Date.now())
    throw new BackupError(
      `${time} is not a time in the past with Z or an offset, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00.`,
    );
  const features = databases.find(({ service }) => service === 'features');
  if (features === undefined) throw new Error('There is no database of features.');
  const client = await connectTo(features);
  try {
    await requireUnused(features, client);
    await client.query('begin');
    await skipRevisionsAfterRestore((text, values) => client.query(text, [...values]), at, new Date());
    await client.query('commit');
  } finally {
    await client.end();
  }
};
