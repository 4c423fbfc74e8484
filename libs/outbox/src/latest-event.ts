import type { EventType } from '@bunting/contracts';
import type { Database, Statement } from '@bunting/database';
import { headAndAt } from './read-outbox.ts';
import { coalesceCalls } from './coalesce-calls.ts';

/** A revision of the producer's data. Two reads that return the same object had no event between them. */
export interface Revision {
  /** the position of the latest event that is not of an ignored type */
  readonly position: number;
}

/** Reads the current revision. It covers every commit before the call. Concurrent calls share one statement. */
export type ReadRevision = () => Promise<Revision>;

interface CachedRevision {
  readonly head: number;
  /** the event's uid, which differs in an outbox that was restored from a backup */
  readonly uid: string | null;
  readonly revision: Revision;
}

const latestBetween: Statement = {
  name: 'latest-event-between',
  text: `
    select
      (select position from outbox where topic = 'event' and position > $1 and position <= $2 and type <> all ($3::text[])
       order by position desc limit 1) as latest,
      (select uid from outbox where topic = 'event' and position = $2) as uid`,
};

/** @param ignoredTypes events of these types do not change the revision */
export const revisionReader = (database: Database, ignoredTypes: readonly EventType[]): ReadRevision => {
  let cached: CachedRevision = { head: 0, uid: null, revision: { position: 0 } };
  return coalesceCalls(async () => {
    const [end] = await database.read<{ head: number; at: string | null }>(headAndAt, ['event', cached.head]);
    const { head, at } = end ?? { head: 0, at: null };
    const isSameOutbox = at === cached.uid;
    if (isSameOutbox && head === cached.head) return cached.revision;
    const values = [isSameOutbox ? cached.head : 0, head, ignoredTypes];
    const [row] = await database.read<{ latest: number | null; uid: string | null }>(latestBetween, values);
    const latest = row?.latest ?? (isSameOutbox ? undefined : head);
    const revision = latest === undefined ? cached.revision : { position: latest };
    cached = { head, uid: row?.uid ?? null, revision };
    return revision;
  });
};
