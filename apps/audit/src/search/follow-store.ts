import { prepared, type ReadDatabase } from '@bunting/database';
import { missingLogHeadError } from '../log/append-store.ts';
import { type EventRow, eventColumns, type FoundEvent, toFoundEvent } from './event-store.ts';
import { limitFeedPage } from './event-filters.ts';

/** An event with what identifies it for a consumer of the log. */
export interface FollowedEvent extends FoundEvent {
  readonly uid: string;
  readonly hash: string;
}

/** The next events after an id, and the end of the log in the same snapshot. */
export interface FollowedPage {
  readonly head: number;
  readonly headHash: string;
  /** the hash of the event with the id; null if there is none */
  readonly at: string | null;
  readonly events: readonly FollowedEvent[];
}

type Row = Pick<FollowedPage, 'head' | 'headHash' | 'at'> &
  ((EventRow & { readonly uid: string; readonly hash: string }) | { readonly id: null });

/** Sub-selects hide the id and the limit from the planner, so that one generic plan is reused. */
const pageAfter = prepared(`
  select head.id as head, encode(head.hash, 'hex') as "headHash",
    (select encode(hash, 'hex') from event where id = $1) as at, page.*
  from event_log_head head left join lateral (
    select ${eventColumns}, event.uid, encode(event.hash, 'hex') as hash
    from event where event.id > (select $1::bigint) order by event.id limit (select $2::integer)) as page on true
  where head.singleton order by page.id`);

const firstFrom = prepared('select id, created_at < $2 as "isBefore" from event where id >= $1 order by id limit 1');
const headOfLog = prepared('select id from event_log_head where singleton');

/** Reads the log for consumers that follow it by id. */
export function logFollower(database: ReadDatabase) {
  return {
    readAfter: async (after: number, limit: number): Promise<FollowedPage> => {
      const rows = await database.read<Row>(pageAfter, [after, limit]);
      if (rows[0] === undefined) throw missingLogHeadError();
      const { head, headHash, at } = rows[0];
      const found = rows.flatMap((row): FollowedEvent[] =>
        // Not by spread, which would parse the event.
        row.id === null ? [] : [Object.assign(toFoundEvent(row), { uid: row.uid, hash: row.hash })],
      );
      return { head, headHash, at, events: limitFeedPage(found, after, head).events };
    },

    /**
     * The id after which events are not older than a time, by bisection: producers have clocks of their own, so that close to the time
     * a few events may be out of order.
     */
    positionAt: async (since: Date): Promise<number> => {
      const [head] = await database.read<{ id: number }>(headOfLog);
      let [low, high] = [1, (head?.id ?? 0) + 1];
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        const [event] = await database.read<{ id: number; isBefore: boolean }>(firstFrom, [middle, since]);
        if (event?.isBefore === true) low = event.id + 1;
        else high = middle;
      }
      return low - 1;
    },
  };
}
