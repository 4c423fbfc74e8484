import { type Database, onlyRow, type PinnedConnection, prepared, refusalForFailure } from '@bunting/database';
import type { IndexedFeature } from './index-document.ts';

/** A change of a document in an index; its feature is null after the deletion. */
interface FeatureChange {
  readonly name: string;
  /** the id of the transaction that made the change */
  readonly changed: string;
  readonly feature: IndexedFeature | null;
}

/** The record of an external index in this database. */
interface IndexRecord {
  /** identifies the build of the index; null before the first one */
  readonly generation: string | null;
  /** the id of the transaction before which all changes are in the index; null before the first build */
  readonly checkpointXid: string | null;
  /** why it has to be rebuilt; null while it need not be */
  readonly rebuildReason: string | null;
}

/** What a search has to know of an index. */
export interface SearchableIndex {
  readonly generation: string;
  readonly isBehind: boolean;
  readonly segmentIds: readonly (readonly number[])[];
}

const selectStatus = prepared(`
  select generation, checkpoint_xid::text as "checkpointXid", rebuild_reason as "rebuildReason", pg_snapshot_xmin(snapshot)::text as "snapshotXmin",
    coalesce(checkpoint_xid > pg_snapshot_xmax(snapshot), false) as "isCheckpointInFuture"
  from pg_current_snapshot() as snapshot left join search_index on uid = $1`);

/** SQL: the properties of `IndexedFeature`, of a row of `feature_lookup` and its change, if one is recorded. */
const indexedFeature = `json_build_object('name', name, 'archived', archived, 'stale', stale, 'project', project, 'type', type,
  'createdById', created_by_id, 'createdBy', created_by_name, 'tags', tags, 'segmentIds', segment_ids, 'statuses', statuses,
  'changed', coalesce(changed::text::bigint, 0))`;

const selectChanges = prepared(`
  select name, changed::text, case when archived is not null then ${indexedFeature} end as feature
  from feature_change left join feature_lookup using (name)
  where (changed, name) > ($1::xid8, $2) order by feature_change.changed, name limit $3`);

const selectFeatures = prepared(`
  select ${indexedFeature} as feature from feature_lookup left join feature_change using (name)
  where name > $1 order by name limit $2`);

/** SQL: the newest change. PostgreSQL reads it from the end of an index, where it would look for a change after another one in all of them. */
const newestChange = '(select changed from feature_change order by changed desc limit 1)';

/** How long changes may wait to be written to the index, before searches do without it. */
const maxLagSeconds = 5;

const selectSearchable = prepared(`
  select generation, saved_at < now() - interval '${maxLagSeconds} seconds' and coalesce(${newestChange} >= checkpoint_xid, false) as "isBehind",
    array(
      select to_json(array(select id from segment where segment.name = wanted.name))
      from unnest($2::text[]) with ordinality as wanted (name, nth) order by nth
    ) as "segmentIds"
  from search_index where uid = $1 and generation is not null and rebuild_reason is null`);

const countIfUnchanged = prepared(`
  select count(*) as features from feature_lookup
  having coalesce(${newestChange} < $1::xid8, true)`);

const saveSql = `
  insert into search_index (uid, generation, checkpoint_xid, rebuild_reason) values ($1, $2, $3::xid8, null)
  on conflict (uid) do update set generation = excluded.generation, checkpoint_xid = excluded.checkpoint_xid, rebuild_reason = null,
    saved_at = now()`;

const markForRebuildSql = `
  insert into search_index (uid, rebuild_reason) values ($1, $2) on conflict (uid) do update set rebuild_reason = excluded.rebuild_reason`;

/** The lock of the one process that writes an index. The process has it until it releases the lock or loses its session. */
function lockOf(session: PinnedConnection) {
  let isLost = false;
  session.on('error', () => void (isLost = true));
  return {
    get isLost() {
      return isLost;
    },
    release: (): void => session.release(true),
  };
}
export type IndexLock = ReturnType<typeof lockOf>;

export type IndexReplicationRepository = ReturnType<typeof indexReplicationRepository>;

/** What the replication to an external index reads and records: changes of features, the checkpoint up to which the index has them, its lock. */
export function indexReplicationRepository(database: Database) {
  return {
    /**
     * The record of an index; `snapshotXmin`, the transaction before which all have ended, so that all of their changes can be read;
     * and whether the checkpoint is in the future of this server: the database was restored from a backup of another one.
     */
    status: async (uid: string) =>
      onlyRow(
        await database.read<IndexRecord & { snapshotXmin: string; isCheckpointInFuture: boolean }>(selectStatus, [uid]),
      ),
    /** The changes after a cursor, in the order of their transactions, and then by name. */
    changes: (after: Pick<FeatureChange, 'changed' | 'name'>, limit: number) =>
      database.read<FeatureChange>(selectChanges, [after.changed, after.name, limit]),
    /** All features, by name. */
    features: async (after: string, limit: number): Promise<readonly IndexedFeature[]> =>
      (await database.read<{ feature: IndexedFeature }>(selectFeatures, [after, limit])).map(({ feature }) => feature),
    /**
     * What a search has to know of the index: its build, whether changes wait too long to be written to it, and for each of some names the ids
     * of the segments with that name. Undefined while it is being built.
     */
    searchable: async (uid: string, segments: readonly string[]): Promise<SearchableIndex | undefined> =>
      (await database.read<SearchableIndex>(selectSearchable, [uid, segments]))[0],
    /** The number of features; undefined if this transaction or a later one has changed any. */
    countIfUnchangedSince: async (checkpointXid: string): Promise<number | undefined> =>
      (await database.read<{ features: number }>(countIfUnchanged, [checkpointXid]))[0]?.features,
    /** Records the build of an index and the changes that are in it, and withdraws a requested rebuild. */
    save: (
      uid: string,
      { generation, checkpointXid }: { readonly generation: string; readonly checkpointXid: string },
    ) => database.transaction(async ({ query }) => void (await query(saveSql, [uid, generation, checkpointXid]))),
    /** Requests a rebuild of the index. */
    markForRebuild: (uid: string, rebuildReason: string): Promise<void> =>
      database.transaction(async ({ query }) => void (await query(markForRebuildSql, [uid, rebuildReason]))),
    /** The lock of an index; undefined while another process has it. */
    lock: async (uid: string): Promise<IndexLock | undefined> => {
      const session = await database.session();
      try {
        const lock = 'select pg_try_advisory_lock(hashtext($1)) as won';
        const { rows } = await session.query<{ won: boolean }>(lock, [`search index ${uid}`]);
        if (onlyRow(rows).won) return lockOf(session);
        session.release();
        return undefined;
      } catch (error) {
        session.release(true);
        throw refusalForFailure(error);
      }
    },
  };
}
