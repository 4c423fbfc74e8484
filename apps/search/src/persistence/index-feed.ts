import type { Database, Session, Statement } from '@bunting/database';

/** A feature as it is found, and the position of its last change. All of it null but these two: it is gone. */
export interface ChangedFeature {
  readonly name: string;
  readonly position: number;
  readonly found: {
    /** microseconds since 1970, as text: they may be more than a number holds */
    readonly createdAt: string;
    readonly lastSeenAt: string | null;
    readonly createdById: number;
    readonly createdByName: string;
    readonly archived: boolean;
    readonly stale: boolean;
    readonly project: string;
    readonly type: string;
    readonly segmentIds: readonly number[];
    readonly favoritedBy: readonly number[];
    readonly statuses: readonly string[];
    readonly tags: readonly string[];
  } | null;
}

/** Where the table stands, and what is known of the index that follows it; all of one moment. */
export interface Standing {
  readonly epoch: string;
  /** of the last change in the table */
  readonly position: number;
  /** how many features there are */
  readonly features: number;
  readonly index: IndexRecord | null;
}

/** What is known of an index. */
export interface IndexRecord {
  /** the epoch of the positions that it has followed */
  readonly epoch: string | null;
  /** made anew with each index that is built; null before the first */
  readonly generation: string | null;
  /** the position up to which it shows every change */
  readonly indexed: number;
  /** the tasks of its server that changed it last: whatever came after them was not ours */
  readonly tasks: readonly number[];
  /** whether somebody is about to change it, or died while doing so */
  readonly changing: boolean;
  /** what its settings were when it was built */
  readonly settings: string | null;
  /** why it cannot be trusted, until it is built anew */
  readonly trouble: string | null;
}

const standing: Statement = {
  name: 'index-standing',
  text: `
    select epoch, position, (select coalesce(sum(features), 0)::bigint from feature_tally) as features, (
      select row_to_json(it) from (
        select epoch, generation, indexed, tasks, changing, settings, trouble from search_index where uid = $1) as it
    ) as index
    from index_feed`,
};

const micros = (column: string): string => `(extract(epoch from ${column}) * 1000000)::bigint::text`;

const found = `case when l.name is not null then json_build_object(
  'createdAt', ${micros('l.created_at')}, 'lastSeenAt', ${micros('l.last_seen_at')},
  'createdById', l.created_by_id, 'createdByName', l.created_by_name, 'archived', l.archived, 'stale', l.stale,
  'project', l.project, 'type', l.type, 'segmentIds', l.segment_ids, 'favoritedBy', l.favorited_by,
  'statuses', l.statuses, 'tags', l.tags) end`;

const changesAfter: Statement = {
  name: 'index-changes',
  text: `
    select epoch, position, (
      select coalesce(json_agg(json_build_object('name', c.name, 'position', c.position, 'found', ${found}) order by c.position, c.name), '[]')
      from (
        select name, position from feature_change where (position, name) > ($1, $2) order by position, name limit $3
      ) as c left join feature_lookup l using (name)
    ) as changes
    from index_feed`,
};

const changesNamed: Statement = {
  name: 'index-changes-named',
  text: `
    select json_build_object('name', c.name, 'position', c.position, 'found', ${found}) as change
    from feature_change c join feature_lookup l using (name) where c.name = any ($1::text[])`,
};

/** Up to where a follower has read the feed. */
export interface Cursor {
  readonly position: number;
  readonly name: string;
}

/** Where what follows a position begins. */
export const afterPosition = (position: number): Cursor => ({ position: position + 1, name: '' });

export interface FeedPage {
  readonly epoch: string;
  /** of the last change in the table, when this was read */
  readonly position: number;
  readonly changes: readonly ChangedFeature[];
}

/** Who alone may change an index, until it is released or the session is lost. */
export interface Keeping {
  /** Writes down what is known of the index now. @throws Error when somebody else keeps it meanwhile */
  record(changed: Partial<Omit<IndexRecord, 'trouble'>> & { readonly trouble?: null }): Promise<void>;
  readonly lost: boolean;
  release(): void;
}

/** What the engine beside PostgreSQL is fed from, and where is kept how far it has come. */
export interface IndexFeed {
  standing(uid: string): Promise<Standing>;
  /** What changed after the cursor, in the order of the changes. */
  after(cursor: Cursor, atMost: number): Promise<FeedPage>;
  /** Features as the index should have them, by their names. */
  named(names: readonly string[]): Promise<readonly ChangedFeature[]>;
  /** Says that the index cannot be trusted; it is not asked any more until it is built anew. */
  distrust(uid: string, generation: string | null, trouble: string): Promise<void>;
  /** The index to oneself; undefined while somebody else has it. */
  keep(uid: string): Promise<Keeping | undefined>;
}

const distrust = `
  insert into search_index (uid, trouble) values ($1, $3)
  on conflict (uid) do update set trouble = excluded.trouble where search_index.generation is not distinct from $2::uuid`;

const take = `
  insert into search_index (uid, keeper) values ($1, 1)
  on conflict (uid) do update set keeper = search_index.keeper + 1 returning keeper`;

const columns = {
  epoch: 'uuid',
  generation: 'uuid',
  indexed: 'bigint',
  tasks: 'bigint[]',
  changing: 'boolean',
  settings: 'text',
  trouble: 'text',
} as const;

const keepingOf = (uid: string, keeper: number, session: Session): Keeping => {
  let lost = false;
  session.on('error', () => {
    lost = true;
  });
  return {
    get lost() {
      return lost;
    },
    record: async (changed) => {
      const keys = Object.keys(changed) as (keyof typeof columns)[];
      const set = keys.map((key, at) => `${key} = $${at + 3}::${columns[key]}`);
      if (changed.generation !== undefined) set.push('built_at = now()');
      const values = keys.map((key) => (changed as Record<string, unknown>)[key]);
      const { rowCount } = await session.query(
        `update search_index set ${set.join(', ')} where uid = $1 and keeper = $2`,
        [uid, keeper, ...values],
      );
      if (rowCount === 0) throw new Error('Somebody else keeps the index now.');
    },
    release: () => session.release(true),
  };
};

export const indexFeed = (database: Database): IndexFeed => ({
  standing: async (uid) => (await database.read<Standing>(standing, [uid]))[0] as Standing,
  after: async ({ position, name }, atMost) =>
    (await database.read<FeedPage>(changesAfter, [position, name, atMost]))[0] as FeedPage,
  named: async (names) =>
    (await database.read<{ change: ChangedFeature }>(changesNamed, [names])).map(({ change }) => change),
  distrust: (uid, generation, trouble) =>
    database.transaction(async ({ query }) => void (await query(distrust, [uid, generation, trouble]))),
  keep: async (uid) => {
    const session = await database.session();
    try {
      const lock = 'select pg_try_advisory_lock(hashtext($1)) as won';
      const { rows } = await session.query<{ won: boolean }>(lock, [`search index ${uid}`]);
      if (rows[0]?.won !== true) return void session.release();
      const taken = await session.query<{ keeper: number }>(take, [uid]);
      return keepingOf(uid, taken.rows[0]?.keeper ?? 0, session);
    } catch (error) {
      session.release(true);
      throw error;
    }
  },
});
