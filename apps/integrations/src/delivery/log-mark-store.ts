import { type Database, onlyRow, prepared, type Tx } from '@bunting/database';
import type { LogPosition } from './log-position.ts';

/** A position of the log whose hash is known. */
export interface LogMark {
  readonly id: number;
  readonly hash: string;
}

/** The log as it is followed: which of its restores were noticed, and the newest mark. */
export interface FollowedLog {
  /** how many restores of the log were noticed */
  readonly generation: number;
  readonly mark: LogMark | null;
  /** whether the newest mark was made in this minute */
  readonly isRecent: boolean;
}

/** SQL: the first mark, from which a log is followed. Later ones are made by `add` alone. */
const insertFirstMark = `
  insert into log_mark (minute, id, hash) select date_trunc('minute', clock_timestamp()), $1, $2
  where not exists (select from log_mark) on conflict do nothing`;

/** Marks the position from which a first destination, or the inbox, begins. */
export async function markBeginning(tx: Tx, { position, hash }: LogPosition): Promise<void> {
  if (hash !== null) await tx.query(insertFirstMark, [position, hash]);
}

/**
 * The marks of the log. All are of one log: one is added only if the log that it is of has the one before, and whoever notices that the log was
 * restored moves everybody who has read on, at once. Who finds it restored later finds itself moved.
 */
export function logMarkStore(database: Database) {
  const { read, query } = database;
  return {
    followed: async (): Promise<FollowedLog> => {
      const rows = await read<FollowedLog>(
        prepared(`
        select generation, case when m.id is not null then json_build_object('id', m.id, 'hash', m.hash) end as mark,
          coalesce(m.minute = date_trunc('minute', clock_timestamp()), false) as "isRecent"
        from log_generation left join lateral (select minute, id, hash from log_mark order by id desc limit 1) as m on true`),
      );
      return onlyRow(rows);
    },

    /** Adds a mark of the log that has the newest one, unless another process has added one or the log was restored. */
    add: async (generation: number, { id, hash }: LogMark): Promise<void> => {
      const text = `
        insert into log_mark (minute, id, hash) select date_trunc('minute', clock_timestamp()), $2, $3
        from (select from log_generation where generation = $1 for share) as current
        where not exists (select from log_mark where id >= $2) on conflict do nothing`;
      await query(prepared(text), [generation, id, hash]);
    },

    /** The marks up to a position, by id. */
    upTo: (position: number): Promise<LogMark[]> =>
      read<LogMark>(prepared('select id, hash from log_mark where id <= $1 order by id'), [position]),

    /**
     * Moves every destination and the inbox that have read on to a position of the restored log, and drops what they know of the log before. All
     * leases end: who has one may be about to store what it has read of the log before.
     * @param end where the inbox goes if no position is known: people are told nothing of years ago
     * @returns false, with nothing stored, if another process has noticed it
     */
    restore: (generation: number, { position, hash }: LogPosition, end: LogPosition): Promise<boolean> =>
      database.transaction(async (tx) => {
        const text = 'update log_generation set generation = generation + 1 where generation = $1 returning 1';
        if ((await tx.query(text, [generation])).length === 0) return false;
        await tx.query('delete from log_mark where id > $1', [position]);
        await tx.query(
          `update destination set batch_end = null, lease = null, lease_until = null, position = least(position, $1),
             position_hash = case when position >= $1 then $2 else position_hash end`,
          [position, hash],
        );
        // They come again from the log, behind those before them. Dead letters stay.
        await tx.query(
          `delete from parked_delivery where next_attempt_at is not null and (event ->> 'id')::bigint > $1`,
          [position],
        );
        const inbox = hash === null ? end : { position, hash };
        await tx.query(
          'update inbox_position set position = $2, hash = $3 where position > $1 or (position = $1 and hash <> $4)',
          [position, inbox.position, inbox.hash, hash],
        );
        return true;
      }),
  };
}
export type LogMarkStore = ReturnType<typeof logMarkStore>;
