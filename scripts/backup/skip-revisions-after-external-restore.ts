import { skipRevisionsAfterRestore } from '../../apps/features/src/unit-of-work/delivery.ts';
import { BackupError } from './backup-error.ts';
import type { ServiceDatabase } from '../databases/service-databases.ts';
import { connectToServiceDatabase, requireNoOtherSession } from './database-connection.ts';

/** A time of RFC 3339, which has `Z` or an offset: without one it would depend on the zone of the shell. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)$/;

/**
 * Skips the revisions that SDKs may have received since the restored state, so that none is assigned twice. Required after PostgreSQL was
 * restored to an earlier time without `npm run restore`.
 * @param restoredTo the time of the restored state, in RFC 3339 with `Z` or an offset
 * @throws BackupError if the time is malformed or in the future, or a service runs
 */
export const skipRevisionsAfterExternalRestore = async (
  databases: readonly ServiceDatabase[],
  restoredTo: string,
): Promise<void> => {
  const stateAt = new Date(restoredTo);
  if (!rfc3339.test(restoredTo) || Number.isNaN(stateAt.getTime()) || stateAt.getTime() > Date.now())
    throw new BackupError(
      `${restoredTo} is not a time in the past with Z or an offset, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00.`,
    );
  const features = databases.find(({ service }) => service === 'features');
  if (features === undefined) throw new Error('There is no database of features.');
  const client = await connectToServiceDatabase(features);
  try {
    await requireNoOtherSession(features, client);
    await client.query('begin');
    await skipRevisionsAfterRestore((text, values) => client.query(text, [...values]), stateAt, new Date());
    await client.query('commit');
  } finally {
    await client.end();
  }
};
