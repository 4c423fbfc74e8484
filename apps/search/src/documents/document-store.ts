import {
  type OutboxMessage,
  type ReadableStateEntity,
  type Reindex,
  type StateOf,
  stateSchemas,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { type Database, isOverSql, onlyRow, prepared, type Statement, timestampSql, type Tx } from '@bunting/database';
import { Type } from 'typebox';
import {
  featureDocumentOf,
  featureLookupOf,
  lookupColumns,
  searchableDescriptionOf,
  type SourceState,
  type StateVersion,
  type StoredState,
} from './feature-document.ts';

function stateMessage<E extends keyof typeof stateSchemas>(entity: E) {
  return Type.Object({
    id: Type.String({ minLength: 1 }),
    version: Type.Integer(),
    state: Type.Union([stateSchemas[entity], Type.Null()]),
  });
}
const FeatureMessage = stateMessage('feature');
const SegmentMessage = stateMessage('segment');

/** The newest version of each entity: a statement can change a row only once. */
function newestOf<E extends keyof typeof stateSchemas>(states: readonly StateOf<E>[]): readonly StateOf<E>[] {
  const newest = new Map<string, StateOf<E>>();
  for (const state of states)
    if ((newest.get(state.id)?.version ?? -Infinity) < state.version) newest.set(state.id, state);
  return [...newest.values()];
}

const columnNames = Object.keys(lookupColumns);
const columnDefinitions = Object.entries(lookupColumns)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');
/** SQL: the list of the columns of `feature_lookup`, as columns of a table or alias. */
function columnsOf(table: string): string {
  return columnNames.map((name) => `${table}.${name}`).join(', ');
}

/** SQL: the columns that an index of texts has. It does without times, and favourites are of one caller. */
function indexedColumnsOf(table: string): string {
  const indexed = columnNames.filter((name) => !['created_at', 'last_seen_at', 'favorited_by'].includes(name));
  return indexed.map((name) => `${table}.${name}`).join(', ');
}

// A state with a newer version replaces the document. The row of feature_lookup, by which the feature is found, and its index entries are
// written only when one of its columns changes. Every part of the statement reads the rows as they were before it.
const applyFeaturesSql = `
  with incoming as (
    select * from json_to_recordset($1::json) as (name text, version bigint, document json, description text, ${columnDefinitions})
  ), newer as (
    insert into feature_document (name, version, document) select name, version, document from incoming
    on conflict (name) do update set version = excluded.version, document = excluded.document
    where feature_document.version < excluded.version
    returning name
  ), deleted as (
    delete from feature_lookup using newer join incoming using (name)
    where feature_lookup.name = newer.name and incoming.document is null
  ), described as (
    insert into feature_description (name, description)
    select name, description from incoming join newer using (name) where description is not null
    on conflict (name) do update set description = excluded.description
    where feature_description.description <> excluded.description
  ), undescribed as (
    delete from feature_description using newer join incoming using (name)
    where feature_description.name = newer.name and incoming.description is null
  ), worded as (
    insert into search_word (word)
    select distinct word from newer join incoming using (name) left join feature_lookup existing using (name)
      cross join unnest(search_words(name, incoming.search_text)) as word
    where incoming.search_text is distinct from existing.search_text
    order by word on conflict do nothing
  ), recorded as (
    insert into feature_change (name, changed)
    select name, pg_current_xact_id() from newer join incoming using (name) left join feature_lookup existing using (name)
    where (${indexedColumnsOf('existing')}) is distinct from (${indexedColumnsOf('incoming')})
    on conflict (name) do update set changed = excluded.changed
  )
  insert into feature_lookup (name, ${columnNames.join(', ')})
  select name, ${columnsOf('incoming')} from incoming join newer using (name) where document is not null
  on conflict (name) do update set ${columnNames.map((name) => `${name} = excluded.${name}`).join(', ')}
  where (${columnsOf('feature_lookup')}) is distinct from (${columnsOf('excluded')})`;

const applySegmentsSql = `
  insert into segment (id, version, name)
  select id, version, name from json_to_recordset($1::json) as (id integer, version bigint, name text)
  on conflict (id) do update set version = excluded.version, name = excluded.name
  where segment.version < excluded.version`;

/**
 * Lets the next state of each entity replace the stored one, whatever its version: after the features service was restored from a backup,
 * it assigns the same versions a second time.
 */
export async function acceptStatesAfterRestore({ query }: Tx): Promise<void> {
  await query('update feature_document set version = least(version, 0)');
  await query('update segment set version = least(version, 0)');
}

/** Stores states unless a newer version is stored. Idempotent: states may be redelivered, late or out of order. */
export async function applyStates({ query }: Tx, messages: readonly OutboxMessage[]): Promise<void> {
  const payloads = (type: string): unknown[] =>
    messages.filter((message) => message.type === type).map((message) => message.payload);
  const features = newestOf(payloads('feature').map((payload) => parse(FeatureMessage, payload) as StateOf<'feature'>));
  const segments = newestOf(payloads('segment').map((payload) => parse(SegmentMessage, payload) as StateOf<'segment'>));
  if (segments.length > 0) {
    const rows = segments.map(({ id, version, state }) => ({ id: Number(id), version, name: state?.name ?? null }));
    await query(applySegmentsSql, [JSON.stringify(rows)]);
  }
  if (features.length > 0) {
    const rows = features.map(({ id, version, state }) => ({
      name: id,
      version,
      ...(state === null
        ? { document: null }
        : {
            document: featureDocumentOf(state),
            description: searchableDescriptionOf(state),
            ...featureLookupOf(state),
          }),
    }));
    await query(applyFeaturesSql, [JSON.stringify(rows)]);
  }
}

// Rows without a counterpart in the other table are included, so that they are repaired.
const selectStates: { readonly [E in ReadableStateEntity]: Statement } = {
  feature: prepared(`
    select name as id, coalesce(stored.version, -1) as version,
      stored.document is not null or lookup.name is not null as "isLive",
      stored.document, case when lookup.name is not null then row_to_json(lookup) end as lookup, described.description
    from (
      (select name from feature_document where name > $1 order by name limit $2)
      union (select name from feature_lookup where name > $1 order by name limit $2) order by name limit $2
    ) as page
      left join feature_document stored using (name)
      left join feature_lookup lookup using (name)
      left join feature_description described using (name)
    order by name`),
  segment: prepared(`
    select id::text as id, version, name is not null as "isLive",
      case when name is not null then json_build_object('name', name) end as document, null as lookup, null as description
    from segment where id::text collate "C" > $1 order by id::text collate "C" limit $2`),
};

// Of a feature that only one of its tables has, the version is none that the features service could have.
const selectVersions: { readonly [E in ReadableStateEntity]: Statement } = {
  feature: prepared(`
    select name as id, coalesce(version, -1) as version
    from feature_lookup left join feature_document using (name) where name > $1 order by name limit $2`),
  segment: prepared(`
    select id::text as id, version from segment
    where name is not null and id::text collate "C" > $1 order by id::text collate "C" limit $2`),
};

const addWords = prepared(`
  insert into search_word (word)
  select distinct word from feature_lookup cross join unnest(search_words(name, search_text)) as word
  where name > $1 and ($2 = '' or name <= $2) order by word on conflict do nothing`);

/** SQL: that no feature has a word of `search_word`. */
const isUnused = 'not exists (select from feature_lookup where search_words(name, search_text) && array[word])';

const selectUnusedWords = prepared(`
  with page as materialized (select word from search_word where word > $1 order by word limit $2)
  select array(select word from page where ${isUnused}) as unused,
    case when count(*) < $2 then '' else max(word) end as "upTo"
  from page`);

const countLive = prepared(`
  select (select count(*) from feature_lookup) + (select count(*) from segment where name is not null) as live`);

async function deleteState({ query }: Tx, entity: ReadableStateEntity, id: string): Promise<void> {
  if (entity === 'segment') return void (await query('delete from segment where id = $1::integer', [Number(id)]));
  await query('delete from feature_lookup where name = $1', [id]);
  await query('delete from feature_description where name = $1', [id]);
  await query('delete from feature_document where name = $1', [id]);
}

/** The states that search stores, for comparison with the features service. */
export function documentStore(database: Database) {
  return {
    /** The states after an id, deleted ones included, in the order of the bytes of their ids. */
    states: (entity: ReadableStateEntity, after: string, limit: number): Promise<readonly StoredState[]> =>
      database.read(selectStates[entity], [after, limit]),
    /** The versions of the states that searches can find, after an id, in the order of the bytes of their ids. */
    versions: (entity: ReadableStateEntity, after: string, limit: number): Promise<readonly StateVersion[]> =>
      database.read(selectVersions[entity], [after, limit]),
    /**
     * Adds the words of the features after a name, up to another one or, where that is empty, to the last: a process of a version before has
     * not stored those of the features that it has changed.
     */
    addMissingWords: (after: string, upTo: string): Promise<void> =>
      database.transaction(async ({ query }) => void (await query(addWords.text, [after, upTo]))),
    /**
     * Removes the words that no feature has, of the next ones after a word.
     * @returns the last of these; empty if there are no more
     */
    removeUnusedWords: async (after: string, limit: number): Promise<string> => {
      const page = await database.read<{ unused: string[]; upTo: string }>(selectUnusedWords, [after, limit]);
      const { unused, upTo } = onlyRow(page);
      if (unused.length > 0)
        await database.transaction(async ({ query }) => {
          // A feature that is written meanwhile finds its word there, and adds none: writers of words wait.
          await query('lock table search_word in share row exclusive mode');
          await query(`delete from search_word where word = any($1) and ${isUnused}`, [unused]);
        });
      return upTo;
    },
    /** The number of features and segments that searches can find. */
    count: async (): Promise<number> => onlyRow(await database.read<{ live: number }>(countLive)).live,
    /**
     * Replaces a stored state, whatever the versions, unless it has changed since it was read.
     * @param current the state in the features service; undefined if the service does not have it
     * @param expected the stored state as it was read; undefined if there was none
     * @returns whether it was replaced
     */
    replace: (
      entity: ReadableStateEntity,
      id: string,
      current: SourceState | undefined,
      expected: StoredState | undefined,
    ): Promise<boolean> =>
      database.transaction(async (tx) => {
        const [table, key] = entity === 'feature' ? ['feature_document', 'name'] : ['segment', 'id::text'];
        const select = `select version from ${table} where ${key} = $1 for update`;
        const [row] = await tx.query<{ version: number }>(select, [id]);
        if ((row?.version ?? -1) !== (expected?.version ?? -1)) return false;
        if (current === undefined) await deleteState(tx, entity, id);
        else {
          const { version } = current;
          const lower = `update ${table} set version = $2 where ${key} = $1 and version > $2`;
          await tx.query(lower, [id, version - 1]);
          const payload = { entity, id, version, state: current.state };
          await applyStates(tx, [{ position: 1, uid: '', type: entity, recordedAt: '', traceparent: null, payload }]);
        }
        return true;
      }),
    /**
     * Claims the next comparison, if it is due: all processes together start one per interval.
     * @returns the name of the feature after which the comparison continues; undefined if none is due
     */
    claim: (intervalMs: number): Promise<string | undefined> =>
      database.transaction(async ({ query }) => {
        const interval = "$1::float8 * interval '1 millisecond'";
        const text = `
        update reconciliation set claimed_at = now() where ${isOverSql(`claimed_at + ${interval}`, interval)}
        returning compared_up_to as "comparedUpTo"`;
        return (await query<{ comparedUpTo: string }>(text, [intervalMs]))[0]?.comparedUpTo;
      }),
    /** The format in which all documents are stored, or a newer one. */
    format: async (): Promise<number> =>
      onlyRow(await database.read<{ format: number }>({ text: 'select document_format as format from reconciliation' }))
        .format,
    saveFormat: (format: number): Promise<void> =>
      database.transaction(
        async ({ query }) =>
          void (await query('update reconciliation set document_format = greatest(document_format, $1)', [format])),
      ),
    saveComparedUpTo: (id: string): Promise<void> =>
      database.transaction(
        async ({ query }) => void (await query('update reconciliation set compared_up_to = $1', [id])),
      ),
  };
}
export type DocumentStore = ReturnType<typeof documentStore>;

const columns = `state, done, "all", ${timestampSql('started_at')} as "startedAt", ${timestampSql('finished_at')} as "finishedAt", reason`;

const selectLast = prepared(`select ${columns} from reindex`);

/** SQL: whether the reindex is running, in a process that still sends heartbeats. */
const isRunning = `state = 'running' and heartbeat_at between now() - interval '30 seconds' and now() + interval '30 seconds'`;

/** The state of the last reindex, shared by all processes. */
export function reindexStatusRepository(database: Database) {
  const execute = (text: string, values: readonly unknown[] = []): Promise<void> =>
    database.transaction(async ({ query }) => void (await query(text, values)));
  return {
    /** Starts a reindex unless one with a recent heartbeat is running. Resolves with the running one, and whether this call started it. */
    begin: (): Promise<{ readonly started: boolean; readonly reindex: Reindex }> =>
      database.transaction(async ({ query }) => {
        await query('lock table reindex in exclusive mode');
        const [running] = await query<Reindex>(`select ${columns} from reindex where ${isRunning}`);
        if (running !== undefined) return { started: false, reindex: running };
        await query('delete from reindex');
        const text = `
          insert into reindex (state, done, "all", started_at, heartbeat_at) values ('running', 0, 0, now(), now())
          returning ${columns}`;
        return { started: true, reindex: onlyRow(await query<Reindex>(text)) };
      }),
    /** @param done the number of states that were rewritten, of `all` */
    progress: (done: number, all: number): Promise<void> =>
      execute('update reindex set done = $1, "all" = $2, heartbeat_at = now()', [done, all]),
    /** @param reason why the reindex failed; null if it succeeded */
    end: (reason: string | null): Promise<void> =>
      execute(
        `update reindex set state = case when $1::text is null then 'done' else 'failed' end, reason = $1,
           finished_at = now(), heartbeat_at = now()`,
        [reason],
      ),
    read: async (): Promise<Reindex | undefined> => (await database.read<Reindex>(selectLast))[0],
  };
}
export type ReindexStatusRepository = ReturnType<typeof reindexStatusRepository>;
