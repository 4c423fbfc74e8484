import type { EventType } from '@bunting/contracts';
import type { Database, Statement } from '@bunting/database';
import { headAndAt } from './read-outbox.ts';
import { coalesceCalls } from './coalesce-calls.ts';

/** How far what was told had come. Nothing was told between two looks that gave the very same one. */
export interface Revision {
  /** the position of the latest event, those passed over aside */
  readonly position: number;
}

/**
 * Looks how far the events of this database have come: all that was committed before it is called is in what is read after it.
 * It asks the database each time, and of those who ask at once the database hears once.
 */
export type ReadRevision = () => Promise<Revision>;

interface CachedRevision {
  readonly head: number;
  /** by which this outbox is known from one that was restored from a backup */
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

/** @param passingOver the types of events that come and go unnoticed */
export const revisionReader = (database: Database, passingOver: readonly EventType[]): ReadRevision => {
  let known: CachedRevision = { head: 0, uid: null, revision: { position: 0 } };
  return coalesceCalls(async () => {
    const [end] = await database.read<{ head: number; at: string | null }>(headAndAt, ['event', known.head]);
    const { head, at } = end ?? { head: 0, at: null };
    const goesOn = at === known.uid;
    if (goesOn && head === known.head) return known.revision;
    const values = [goesOn ? known.head : 0, head, passingOver];
    const [found] = await database.read<{ latest: number | null; uid: string | null }>(latestBetween, values);
    const latest = found?.latest ?? (goesOn ? undefined : head);
    const revision = latest === undefined ? known.revision : { position: latest };
    known = { head, uid: found?.uid ?? null, revision };
    return revision;
  });
};
