import type { Database } from '@bunting/database';

// Rows that another replica has locked are skipped: that replica stores a use that is about as recent.
const storeLastUsesSql = `
  with used as (select * from unnest($1::uuid[], $2::timestamptz[]) as used (id, seen_at)),
  due as (select t.id from api_token t join used using (id) order by t.id for update of t skip locked),
  tokens as (
    update api_token t set seen_at = greatest(t.seen_at, used.seen_at) from due join used using (id)
    where t.id = due.id returning t.user_id, t.seen_at
  ),
  open as (select s.id from user_session s join used using (id) order by s.id for update of s skip locked),
  sessions as (
    update user_session s set seen_at = greatest(s.seen_at, used.seen_at) from open join used using (id)
    where s.id = open.id returning s.user_id, s.seen_at
  ),
  users as (
    select u.id, max(uses.seen_at) as seen_at
    from api_user u join (select * from tokens union all select * from sessions) as uses on uses.user_id = u.id
    group by u.id
  ),
  free as (select u.id from api_user u join users using (id) order by u.id for update of u skip locked)
  update api_user u set seen_at = greatest(u.seen_at, users.seen_at) from users join free using (id) where u.id = users.id`;

/** Records in memory when tokens and sessions were last used, and stores the records in one statement when `store` is called. */
export const lastSeenRecorder = (database: Database) => {
  let records = new Map<string, number>();
  return {
    record: (tokenId: string) => void records.set(tokenId, Date.now()),
    /** Stores the records since the last call. After a failure the next call stores them, too. */
    store: async (): Promise<void> => {
      if (records.size === 0) return;
      const uses = records;
      records = new Map();
      const times = [...uses.values()].map((usedAt) => new Date(usedAt).toISOString());
      try {
        await database.transaction(({ query }) => query(storeLastUsesSql, [[...uses.keys()], times]));
      } catch (error) {
        records = new Map([...uses, ...records]);
        throw error;
      }
    },
  };
};
