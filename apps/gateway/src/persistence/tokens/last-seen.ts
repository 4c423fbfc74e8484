import type { Database } from '@bunting/database';

// Another replica may be writing the same rows: what it has locked it has just seen in use, too.
const seen = `
  with used as (select * from unnest($1::uuid[], $2::timestamptz[]) as used (id, at)),
  due as (select t.id from api_token t join used using (id) order by t.id for update of t skip locked),
  tokens as (
    update api_token t set seen_at = greatest(t.seen_at, used.at) from due join used using (id)
    where t.id = due.id returning t.user_id, t.seen_at
  ),
  people as (
    select u.id, max(tokens.seen_at) as at from api_user u join tokens on tokens.user_id = u.id group by u.id
  ),
  free as (select u.id from api_user u join people using (id) order by u.id for update of u skip locked)
  update api_user u set seen_at = greatest(u.seen_at, people.at) from people join free using (id) where u.id = people.id`;

/** When keys were last used. A use is noted in memory; the uses since the last time are stored by one statement now and then. */
export const lastSeenRecorder = (
  database: Database,
  { intervalMs, warn }: { readonly intervalMs: number; readonly warn: (message: string) => void },
) => {
  let noted = new Map<string, number>();
  let writing: Promise<void> = Promise.resolve();

  const writeNoted = async (): Promise<void> => {
    if (noted.size === 0) return;
    const uses = noted;
    noted = new Map();
    const times = [...uses.values()].map((at) => new Date(at).toISOString());
    // It is worth no trouble: a use that is not written down is followed by another.
    await database
      .transaction(({ query }) => query(seen, [[...uses.keys()], times]))
      .catch((error: unknown) => warn(`When keys were last used could not be stored: ${(error as Error).message}`));
  };
  const flush = (): Promise<void> => (writing = writing.then(writeNoted));
  const timer = setInterval(() => void flush(), intervalMs).unref();

  return {
    record: (tokenId: string) => void noted.set(tokenId, Date.now()),
    /** Stores what was noted since the last time. */
    write: flush,
    stop: (): Promise<void> => {
      clearInterval(timer);
      return flush();
    },
  };
};
