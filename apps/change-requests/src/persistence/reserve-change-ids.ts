import { onlyRow, type Statement } from '@bunting/database';
import { nowMsSql } from '../requests/request-read-store.ts';

/** Ascending ids for new changes, and the time of the database at which they were reserved. */
export interface ReservedIds {
  readonly ids: readonly number[];
  readonly now: Date;
}

const nextIds: Statement = {
  name: 'new-change-ids',
  text: `
    select ${nowMsSql} as "nowMs", array_to_json(array(select nextval('change_id_seq') from generate_series(1, $1::integer))) as ids`,
};

/** Sends a statement in a transaction, or outside of any. */
type Query = (
  statement: Statement,
  values: readonly unknown[],
) => Promise<{ readonly ids: number[]; readonly nowMs: number }[]>;

/** Reserves ids for new changes, also outside of a transaction: unused ids are not reused. */
export const reserveChangeIdsBy =
  (query: Query) =>
  async (count: number): Promise<ReservedIds> => {
    const { ids, nowMs: now } = onlyRow(await query(nextIds, [count]));
    return { ids, now: new Date(now) };
  };

/** Returns ids for new changes. */
export type NewChangeIds = ReturnType<typeof reserveChangeIdsBy>;
