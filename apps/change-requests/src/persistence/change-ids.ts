import type { Statement } from '@bunting/database';

const nextIds: Statement = {
  name: 'new-change-ids',
  text: "select nextval('change_id_seq') as id from generate_series(1, $1::integer)",
};

/** Sends a statement in a transaction, or outside of any. */
type Query = (statement: Statement, values: readonly unknown[]) => Promise<{ readonly id: number }[]>;

/** Reserves ascending ids for new changes, also outside of a transaction: unused ids are not reused. */
export const changeIdsFrom =
  (query: Query) =>
  async (count: number): Promise<number[]> =>
    (await query(nextIds, [count])).map(({ id }) => id);

/** Returns ascending ids for new changes. */
export type NewChangeIds = ReturnType<typeof changeIdsFrom>;
