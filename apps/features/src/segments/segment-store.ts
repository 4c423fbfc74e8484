import type { SegmentList, SegmentUsage } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import {
  advisoryLock,
  onlyRow,
  prepared,
  type ReadDatabase,
  timestampSql,
  type Tx,
  violatedConstraint,
} from '@bunting/database';
import type { Outbox, RecordEvents } from '@bunting/outbox';
import { raw } from '@mikro-orm/postgresql';
import type { SegmentPlace } from '../changes/protected-edit.ts';
import type { DomainEvent } from '../features/feature.ts';
import type { Referrer } from '../names.ts';
import { segmentNameTaken, segmentNotFound, strategyNotFound, unknownProject } from '../refusals.ts';
import { emitSegmentDelivery, emitSegmentRemovalDelivery } from '../unit-of-work/delivery.ts';
import { SegmentEntity, segmentListJson, storedSegmentJson } from '../unit-of-work/entities.ts';
import { strategiesWhereSql } from '../unit-of-work/feature-sql.ts';
import type { BeforeAndAfter, JsonWithEntityTag } from '../unit-of-work/if-match.ts';
import { type ProtectionGuard, selectProtectedEnvironments, selectProtectedUses } from '../unit-of-work/protection.ts';
import { defaultStrategiesWithSegment, jsonListOf, orNull, readJson, withoutNulls } from '../unit-of-work/sql.ts';
import type { SegmentContent, SegmentUpdateContext, StoredSegment } from './segment.ts';

/** SQL: the row `s` of `segment` as clients receive it, with more members. */
function segmentJson(...more: readonly string[]): string {
  return withoutNulls(
    `'id': s.id, 'name': s.name, 'description': ${orNull('s.description')}, 'project': s.project`,
    `'constraints': s.constraints, 'list': (
      select ${segmentListJson('list')} from segment_list list where list.segment = s.id)`,
    `'createdBy': s.created_by, 'createdAt': ${timestampSql('s.created_at')}`,
    ...more,
  );
}

const oneSegment = prepared(`select ${segmentJson()}::text as json, ${storedSegmentJson('s')} as stored from segment s
  where id = $1 and (project is null or project <> all ($2::text[]))`);

/** SQL: the numbers of active features and projects outside of `$1` that use a segment. */
const usedSegments = `
  with used as (
    select id, count(distinct project) as projects, count(*) as features
    from feature, unnest(segment_ids) as id
    where segment_ids <> '{}' and archived_at is null and project <> all ($1::text[]) group by id)`;

const allSegments = prepared(`
  ${usedSegments}
  select json_build_object('segments', coalesce(json_agg(${segmentJson(
    `'usedInProjects': coalesce(used.projects, 0), 'usedInFeatures': coalesce(used.features, 0)`,
  )}
    order by s.name collate "C"), '[]'))::text as json
  from segment s left join used on used.id = s.id
  where s.project is null or s.project <> all ($1::text[])`);

/** The constraints of the segment `s` with as many values as a sentence names, `maxNamedValues` of the contracts. */
const shortConstraints = jsonListOf(`
  select case when one ? 'values' then one || jsonb_build_object(
      'values', jsonb_path_query_array(one, '$.values[0 to 3]'), 'valueCount', jsonb_array_length(one -> 'values'))
    else one end
  from jsonb_array_elements(s.constraints) with ordinality as given (one, nth) order by nth`);

const segmentSummaries = prepared(`
  ${usedSegments}
  select json_build_object('segments', coalesce(json_agg(${withoutNulls(
    `'id': s.id, 'name': s.name, 'description': ${orNull('s.description')}, 'project': s.project`,
    `'contextNames': ${jsonListOf(`
      select one ->> 'contextName' as name from jsonb_array_elements(s.constraints) as one
      union select context_name from segment_list list where list.segment = s.id order by name`)}`,
    `'constraints': ${shortConstraints}, 'list': (
      select ${segmentListJson('list')} from segment_list list where list.segment = s.id)`,
    `'createdAt': ${timestampSql('s.created_at')}, 'usedInFeatures': coalesce(used.features, 0)`,
  )}
    order by s.name collate "C"), '[]'))::text as json
  from segment s left join used on used.id = s.id
  where s.project is null or s.project <> all ($1::text[])`);

const nameTaken = prepared('select from segment where name = $1');

const strategiesOfSegment = prepared(`
  select ${strategiesWhereSql(
    `f.segment_ids @> array[s.id] and f.segment_ids <> '{}' and f.project <> all ($2::text[])`,
    `strategy -> 'segments' @> to_jsonb(s.id)`,
  )} as strategies,
    ${jsonListOf(`select row_to_json(place) from (
      select s.project, environment from (${selectProtectedEnvironments('s.project')}) as own
      union (${selectProtectedUses})) as place`)} as "protectedPlaces"
  from segment s where s.id = $1 and (s.project is null or s.project <> all ($2::text[]))`);

const segmentsOfStrategy = prepared(`
  select json_build_object('segments', coalesce((
    select json_agg(${segmentJson()} order by s.name collate "C") from segment s
    where to_jsonb(s.id) <@ (
      select strategy -> 'segments' from jsonb_path_query(f.environments, '$.*.strategies[*]') as strategy
      where strategy ->> 'id' = $1)), '[]'))::text as json
  from feature f where f.strategy_ids @> array[$1::text] and f.strategy_ids <> '{}'
    and f.project <> all ($2::text[])`);

/** The strategies that use a segment, and the protected environments that an edit of it affects. */
export interface SegmentUses extends Pick<SegmentUsage, 'strategies'> {
  readonly protectedPlaces: readonly SegmentPlace[];
}

/** Reads segments outside of transactions. Segments and features of the projects `hidden` are left out. */
export function segmentReader(database: ReadDatabase) {
  return {
    all: (hidden: readonly string[]): Promise<string> => readJson(database, allSegments, [hidden]),
    summaries: (hidden: readonly string[]): Promise<string> => readJson(database, segmentSummaries, [hidden]),
    one: async (id: number, hidden: readonly string[]): Promise<JsonWithEntityTag> => {
      const [row] = await database.read<{ json: string; stored: StoredSegment }>(oneSegment, [id, hidden]);
      if (row === undefined) throw segmentNotFound(id);
      return { json: row.json, tag: contentTag(row.stored) };
    },
    isNameTaken: async (name: string): Promise<boolean> => (await database.read(nameTaken, [name])).length > 0,
    /**
     * The strategies of active features that use a segment, and the protected environments that an edit of it affects, those of hidden
     * projects as well.
     */
    usesOf: async (id: number, hidden: readonly string[]): Promise<SegmentUses> => {
      const [row] = await database.read<SegmentUses>(strategiesOfSegment, [id, hidden]);
      if (row === undefined) throw segmentNotFound(id);
      return row;
    },
    /** The segments that a strategy uses. */
    ofStrategy: async (strategyId: string, hidden: readonly string[]): Promise<string> => {
      const [row] = await database.read<{ json: string }>(segmentsOfStrategy, [strategyId, hidden]);
      if (row === undefined) throw strategyNotFound(strategyId);
      return row.json;
    },
  };
}

const getForUpdate = `
  select ${storedSegmentJson('s')} as segment, (select id from segment where name = $2) as "idOfName"
  from segment s where s.id = $1 for update of s`;

/** The list of the segment `$1`, and the active features and the default strategies that use it. */
const selectListAndReferrers = `
  select (select ${segmentListJson('list')} from segment_list list where segment = $1::integer) as list,
    ${jsonListOf(`select row_to_json(referrer) from (
      select name, project from feature
      where segment_ids @> array[$1::integer] and segment_ids <> '{}' and archived_at is null
      union all ${defaultStrategiesWithSegment('$1::integer')} order by name) as referrer`)} as referrers`;

const upsertList = `
  insert into segment_list (segment, context_name, size, bytes, version, root) values ($1, $2, $3, $4, $5, $6)
  on conflict (segment) do update set context_name = excluded.context_name, size = excluded.size, bytes = excluded.bytes,
    version = excluded.version, root = excluded.root`;

interface Row {
  readonly segment: StoredSegment;
  readonly idOfName: number | null;
}

/** The refusal for a write of a segment that violates a constraint of the database. */
function refusalOf(error: unknown, project: string | null): unknown {
  const constraint = violatedConstraint(error);
  if (constraint === 'segment_name_is_unique') return segmentNameTaken();
  if (constraint !== 'segment_project_fkey' || project === null) return error;
  return unknownProject(project, '/body/project');
}

/** Emits the removal of a segment. @param version the version of the removed row */
export function emitSegmentRemoval(outbox: Outbox, id: number, version: number): void {
  outbox.emitState({ entity: 'segment', id: String(id), version: version + 1, state: null });
  emitSegmentRemovalDelivery(outbox, id);
}

interface SegmentRepositoryOptions {
  /** refuses edits that require a change request */
  readonly guard: ProtectionGuard;
  /** whether the caller may see a project; the check is repeated before the reply is replayed to a retry */
  readonly isProjectVisible: (project: string) => boolean;
  readonly recordEvents: RecordEvents;
}

export function segmentRepository(
  tx: Tx,
  outbox: Outbox,
  { guard, isProjectVisible, recordEvents }: SegmentRepositoryOptions,
) {
  const { query } = tx;
  const locked = new Map<number, BeforeAndAfter<StoredSegment>>();
  const updateLocked = (id: number, after: StoredSegment | undefined): void => {
    const segment = locked.get(id);
    if (segment !== undefined) segment.after = after;
  };
  const emitState = (before: StoredSegment | undefined, after: StoredSegment, version: number): void => {
    const { id, name, project } = after;
    outbox.emitState({ entity: 'segment', id: String(id), version, state: { id, name, project } });
    emitSegmentDelivery(outbox, before, after);
  };

  return {
    /** The segments that `getForUpdate` locked, by id. */
    locked,

    /** Counts the segments; no other transaction that counts can add one before this one ends. */
    lockAndCount: async (): Promise<number> => {
      await advisoryLock({ query }, 'segments');
      const text = 'select count(*) from segment';
      return onlyRow(await query<{ count: number }>(text), text).count;
    },

    /** Locks a segment and reads the features and default strategies that use it, and the id of the segment called `name`. */
    getForUpdate: async (
      id: number,
      name: string = '',
    ): Promise<{ readonly segment: StoredSegment } & Pick<SegmentUpdateContext, 'referrers' | 'idOfName'>> => {
      const [row] = await query<Row>(getForUpdate, [id, name]);
      if (row === undefined || (row.segment.project !== null && !isProjectVisible(row.segment.project)))
        throw segmentNotFound(id);
      const { idOfName } = row;
      const { list: _, ...content } = row.segment;
      // A second statement: it sees what others have stored while this transaction waited for the lock, which the first one does not: a list,
      // and features that began to use the segment.
      const stored = await query<{ list: SegmentList | null; referrers: readonly Referrer[] }>(selectListAndReferrers, [
        id,
      ]);
      const { list, referrers } = onlyRow(stored, selectListAndReferrers);
      const segment = list === null ? content : { ...content, list };
      locked.set(id, { before: segment, after: segment });
      return { segment, referrers, idOfName: (other) => (other === name ? (idOfName ?? undefined) : undefined) };
    },

    /** Locks segments in the order of their ids. */
    lock: async (ids: readonly number[]): Promise<void> => {
      if (ids.length > 0) {
        await query('select id from segment where id = any ($1::integer[]) order by id for update', [ids]);
      }
    },

    /**
     * Locks segments that strategies may begin to use, and those of the default strategies of a project, against edits: whoever edits one
     * meanwhile has ended before, or waits and then sees the use.
     */
    lockUsable: async (ids: readonly number[], project: string): Promise<void> => {
      await query(
        `select id from segment where id = any ($1::integer[]) or id::text in (
           select value #>> '{}' from project_environment connection,
             jsonb_path_query(connection.default_strategy, '$.segments[*]') as value
           where connection.project = $2) order by id for share`,
        [ids, project],
      );
    },

    /**
     * Adds a segment and returns it, with its new id.
     * @param eventsOf the events of the added segment
     * @throws Refusal for a name that is taken and for a project that does not exist.
     */
    add: async (
      content: SegmentContent,
      { createdBy, createdAt }: { readonly createdBy: string; readonly createdAt: string },
      eventsOf: (segment: StoredSegment) => readonly DomainEvent[],
    ): Promise<StoredSegment> => {
      const { em } = tx;
      const row = em.create(SegmentEntity, { ...content, createdBy, createdAt, version: 1 });
      try {
        await em.flush();
      } catch (error) {
        throw refusalOf(error, content.project);
      }
      const segment = { ...content, id: row.id, createdBy, createdAt };
      emitState(undefined, segment, row.version);
      recordEvents(eventsOf(segment));
      return segment;
    },

    /**
     * Stores a locked segment.
     * @throws Refusal for a name that is taken and for a project that does not exist.
     */
    save: async (before: StoredSegment, after: StoredSegment, events: readonly DomainEvent[]): Promise<void> => {
      const { id, name, description, project, constraints } = after;
      await guard.checkSegmentEdit(id, [before.project, project]);
      const content = { name, description, project, constraints, version: raw('version + 1') };
      try {
        const saved = await tx.em.qb(SegmentEntity).update(content).where({ id }).returning('version').execute('all');
        emitState(before, after, onlyRow<{ version: number }>(saved, `that updates the segment ${id}`).version);
      } catch (error) {
        throw refusalOf(error, project);
      }
      updateLocked(id, after);
      recordEvents(events);
    },

    /**
     * Stores the list of a locked segment; its version is that of the segment.
     * @param list undefined to remove it
     * @param eventsOf the events of the changed segment
     */
    saveList: async (
      before: StoredSegment,
      list: (Omit<SegmentList, 'version'> & { readonly bytes: number; readonly root: Buffer }) | undefined,
      eventsOf: (after: StoredSegment) => readonly DomainEvent[],
    ): Promise<StoredSegment> => {
      const { id, project } = before;
      await guard.checkSegmentEdit(id, [project]);
      const text = 'update segment set version = version + 1 where id = $1 returning version';
      const { version } = onlyRow(await query<{ version: number }>(text, [id]), text);
      const { list: _, ...content } = before;
      let after: StoredSegment = content;
      if (list === undefined) await query('delete from segment_list where segment = $1', [id]);
      else {
        const { contextName, size, bytes, root } = list;
        await query(upsertList, [id, contextName, size, bytes, version, root]);
        after = { ...content, list: { contextName, size, version } };
      }
      emitState(undefined, after, version);
      updateLocked(id, after);
      recordEvents(eventsOf(after));
      return after;
    },

    remove: async ({ id, project }: StoredSegment, events: readonly DomainEvent[]): Promise<void> => {
      await guard.checkSegmentEdit(id, [project]);
      const text = 'delete from segment where id = $1 returning version';
      const [row] = await query<{ version: number }>(text, [id]);
      updateLocked(id, undefined);
      if (row === undefined) return;
      emitSegmentRemoval(outbox, id, row.version);
      recordEvents(events);
    },
  };
}
