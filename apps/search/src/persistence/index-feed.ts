import type { Database, Session, Statement } from '@bunting/database';

/** What of a feature an index of texts holds. */
interface IndexedFeature {
  readonly name: string;
  readonly archived: boolean;
  readonly tags: readonly string[];
}

/** A change of what an index holds; without a feature when it was deleted. */
interface FeatureChange {
  readonly name: string;
  /** the transaction that made it */
  readonly changed: string;
  readonly feature: IndexedFeature | null;
}

/** What is known of an index outside this database. */
interface IndexRecord {
  /** a new one for each index that is built; null before the first */
  readonly generation: string | null;
  /** transactions before this one have been followed */
  readonly followed: string | null;
  /** why it has to be built again */
  readonly trouble: string | null;
}

const standing: Statement = {
  name: 'index-standing',
  text: `
    select generation, followed::text, trouble, pg_snapshot_xmin(snapshot)::text as settled,
      coalesce(followed > pg_snapshot_xmax(snapshot), false) as "isOfAnotherServer"
    from pg_current_snapshot() as snapshot left join search_index on uid = $1`,
};

const changes: Statement = {
  name: 'index-changes',
  text: `
    select name, changed::text, case when archived is not null
      then json_build_object('name', name, 'archived', archived, 'tags', tags) end as feature
    from feature_change left join feature_lookup using (name)
    where (changed, name) > ($1::xid8, $2) order by changed, name limit $3`,
};

const features: Statement = {
  name: 'index-features',
  text: 'select name, archived, tags from feature_lookup where name > $1 order by name limit $2',
};

const settledCount: Statement = {
  name: 'index-settled-count',
  text: `
    select count(*) as features from feature_lookup
    having not exists (select from feature_change where changed >= $1::xid8)`,
};

const save = `
  insert into search_index (uid, generation, followed, trouble) values ($1, $2, $3::xid8, null)
  on conflict (uid) do update set generation = excluded.generation, followed = excluded.followed, trouble = null`;

const distrust = `
  insert into search_index (uid, trouble) values ($1, $2) on conflict (uid) do update set trouble = excluded.trouble`;

/** An index has one process that writes it, until it releases the lock or its session is lost. */
const lockOf = (session: Session) => {
  let isLost = false;
  session.on('error', () => void (isLost = true));
  return {
    get isLost() {
      return isLost;
    },
    release: (): void => session.release(true),
  };
};
export type IndexLock = ReturnType<typeof lockOf>;

export type IndexFeed = ReturnType<typeof indexFeed>;

/** What an index of texts is fed from, and the record of how far it has followed. */
export const indexFeed = (database: Database) => ({
  /**
   * The record of an index, and before which transaction all have ended: every change of theirs can be read from now on.
   * Transaction ids of a server from which the database was restored mean nothing on this one.
   */
  standing: async (uid: string) => {
    const rows = await database.read<IndexRecord & { readonly settled: string; readonly isOfAnotherServer: boolean }>(
      standing,
      [uid],
    );
    return rows[0] as (typeof rows)[number];
  },
  /** Changes of transactions from the one of the cursor on, in their order. */
  changes: (after: Pick<FeatureChange, 'changed' | 'name'>, limit: number) =>
    database.read<FeatureChange>(changes, [after.changed, after.name, limit]),
  /** All features, by name. */
  features: (after: string, limit: number) => database.read<IndexedFeature>(features, [after, limit]),
  /** How many features there are; undefined when some have changed since. */
  countIfUnchangedSince: async (followed: string): Promise<number | undefined> =>
    (await database.read<{ features: number }>(settledCount, [followed]))[0]?.features,
  save: (uid: string, { generation, followed }: { readonly generation: string; readonly followed: string }) =>
    database.transaction(async ({ query }) => void (await query(save, [uid, generation, followed]))),
  /** Requests a rebuild of the index. */
  distrust: (uid: string, trouble: string): Promise<void> =>
    database.transaction(async ({ query }) => void (await query(distrust, [uid, trouble]))),
  /** The lock of an index; undefined while another process has it. */
  lock: async (uid: string): Promise<IndexLock | undefined> => {
    const session = await database.session();
    try {
      const lock = 'select pg_try_advisory_lock(hashtext($1)) as won';
      const { rows } = await session.query<{ won: boolean }>(lock, [`search index ${uid}`]);
      if (rows[0]?.won === true) return lockOf(session);
      session.release();
      return undefined;
    } catch (error) {
      session.release(true);
      throw error;
    }
  },
});
