import {
  actionsOfWholeProject,
  type ChangeAction,
  type FindNeededSegmentLists,
  type RequestOf,
} from '@bunting/contracts';
import { onlyRow, prepared, type ReadDatabase, type Statement, timestampSql } from '@bunting/database';
import { entitySql } from '@bunting/database/entities';
import type { ScheduledRequest, SegmentUse } from '../previews/conflicts.ts';
import type { Protection } from '../reviews/approvals.ts';
import type { ActionableCounts } from '../reviews/request-roles.ts';
import { statesToApply, statesToReview } from '../states/state-machine.ts';
import {
  ChangeEntity,
  changeRequestEntities,
  ChangeRequestEntity,
  CommentEntity,
  ScheduleEntity,
} from '../unit-of-work/entities.ts';
import type { ChangeRequestFilter } from './change-request-filter.ts';
import {
  type ChangeRequest,
  type EnvironmentRef,
  type ProposedChange,
  type RequestPath,
  requireVisible,
  type Schedule,
} from './change-request.ts';
import {
  acceptsChangesSql,
  hasParentSql,
  hasReferenceSql,
  idOfStrategyWithSegmentsSql,
  isOpenSql,
  isPendingSql,
  isVisibleSql,
  segmentsOfStrategySql,
  sqlList,
} from './request-conditions.ts';

const sql = entitySql(changeRequestEntities);
function person(row: string): string {
  return `json_build_object('id', ${row}.created_by_id, 'name', ${row}.created_by_name, 'username', ${row}.created_by_username)`;
}

/** SQL: the rows of a table that belong to the request, as a JSON array. */
function partsOf(table: string, json: string, order: string): string {
  return `coalesce((
  select json_agg(${json} order by ${order}) from ${table} where ${table}.change_request_id = request.id), '[]')`;
}

function reviewsOf(table: string, otherMembers = ''): string {
  return partsOf(
    table,
    `json_build_object('createdBy', ${person(table)}, 'createdAt', ${timestampSql(`${table}.created_at`)}${otherMembers})`,
    `${table}.created_at, ${table}.created_by_id`,
  );
}

/** SQL: a request with all its parts, in the format of the domain. */
const requestJson = sql.jsonOf(
  ChangeRequestEntity,
  'request',
  `'changes', ${partsOf('change', sql.jsonOf(ChangeEntity, 'change'), 'change.position')},
     'approvals', ${reviewsOf('approval', ", 'basis', approval.basis")},
     'rejections', ${reviewsOf('rejection')},
     'comments', ${partsOf('comment', sql.jsonOf(CommentEntity, 'comment'), 'comment.id')},
     'schedule', (select ${sql.jsonOf(ScheduleEntity, 'schedule')} from schedule where schedule.change_request_id = request.id),
     'requestedApprovers', ${partsOf('requested_approver', 'requested_approver.user_id', 'requested_approver.position')}`,
);

const requests = `select ${requestJson} as request from change_request request`;

/** A row of the statements that select whole requests. */
export interface RequestRow {
  readonly request: ChangeRequest;
}

/** SQL: the current time by the clock of the database, which all replicas share, in milliseconds since 1970. */
export const nowMsSql = 'extract(epoch from clock_timestamp())::float8 * 1000';

const requestById = `${requests} where request.id = $1`;

/** A request with the current time. */
export const selectRequestAndNow = `
  select ${requestJson} as request, ${nowMsSql} as "nowMs" from change_request request where request.id = $1`;

/**
 * SQL: whether the request of a user accepts changes. `$1` its author, `$2` project, `$3` environment, `$4` whether only a draft counts.
 */
export const acceptsChangesOfAuthorSql = `
  request.created_by_id = $1 and request.project = $2 and request.environment = $3 and ${acceptsChangesSql('$4')}`;

/** The draft that accepts changes, or else the newest request that does. */
const selectAcceptingRequest = prepared(`${requests} where ${acceptsChangesOfAuthorSql}
  order by request.state = 'Draft' desc, request.id desc limit 1`);

/** The pending requests of one user in one project, also while they are applied. */
const selectPendingOfUser = prepared(`${requests}
  where request.created_by_id = $1 and request.project = $2 and request.${isPendingSql}
  order by request.environment collate "C", request.id`);

const selectRequest = prepared(requestById);

const columns = sql.columnsOf(ChangeEntity);

/** Changes in the format of parameter `$4` of `updateDraft`. */
export function changeRowsJson(changes: readonly ProposedChange[]): string {
  return JSON.stringify(changes.map((change) => sql.rowOf(ChangeEntity, change)));
}

/**
 * Stores new content of a draft if it is still a draft of the expected revision: `$1` the draft, `$2` the expected revision, `$3` ids of
 * removed changes, `$4` new and edited changes. Returns one row if it stored the content.
 */
export const updateDraft = `
  with request as (
    update change_request set revision = revision + 1
    where id = $1 and revision = $2 and state = 'Draft' and applying is null returning id
  ), removed as (delete from change where id = any ($3::bigint[]) and exists (select from request)),
  stored as (
    insert into change (${columns.join(', ')})
    select ${columns.map((column) => (column === 'change_request_id' ? 'request.id' : `row.${column}`)).join(', ')}
    from request, json_populate_recordset(null::change, $4::json) as row
    on conflict (id) do update set ${columns
      .filter((column) => column !== 'id' && column !== 'change_request_id')
      .map((column) => `${column} = excluded.${column}`)
      .join(', ')}
  )
  select from request`;

/** Open requests with approvals, by id: `$1` the id before the first, `$2` their project, null for all. */
const selectApprovedRequests = prepared(`${requests}
  where request.id in (
    select id from change_request request
    where request.id > $1 and ($2::text is null or request.project = $2) and ${isOpenSql}
      and exists (select from approval where approval.change_request_id = request.id)
    order by id limit 200)
  order by request.id`);

/** The newest requests of a project that a user may see: `$1` project, `$2` user. */
const selectRequestsOfProject = prepared(
  `${requests} where request.project = $1 and ${isVisibleSql('$2')} order by request.id desc limit 300`,
);

/** The pending requests that affect a feature. */
const selectPendingOfFeature = prepared(`${requests}
  where request.project = $1 and ${isVisibleSql('$2')} and request.${isPendingSql}
    and exists (select from change where change.change_request_id = request.id and change.feature = $3)
  order by request.environment collate "C", request.id limit 300`);

const countByState = prepared(`
  select count(*) as total,
    count(*) filter (where state = 'Applied') as applied, count(*) filter (where state = 'Approved') as approved,
    count(*) filter (where state = 'Rejected') as rejected, count(*) filter (where state = 'In review') as "reviewRequired",
    count(*) filter (where state = 'Scheduled') as scheduled
  from change_request where project = $1 and state <> 'Draft'`);

/** Open requests by project: `$1` user, `$2` projects that are hidden from the user. */
const countOpenByProject = prepared(`
  select project as id, count(*) as open from change_request request
  where ${isOpenSql} and ${isVisibleSql('$1')} and project <> all ($2::text[])
  group by project order by project collate "C"`);

/** Where requests change features: `$1` features, `$2` user, `$3` projects that are hidden from the user. */
const selectWaitingChanges = prepared(`
  select distinct change.feature, request.environment
  from change join change_request request on request.id = change.change_request_id
  where change.feature = any ($1::text[]) and ${isOpenSql} and ${isVisibleSql('$2')} and request.project <> all ($3::text[])
  order by 1, 2`);

const selectProtectionsOfProjects = prepared(`
  select project, environment from protected_environment where project = any ($1::text[]) order by project, environment`);

/** Scheduled requests that affect an object: `$1` project, `$2` features, `$3` strategies, `$4` features with variants. */
const selectScheduledAffecting = prepared(`
  select request.id, request.environment, request.title from change_request request
  where request.project = $1 and request.state = 'Scheduled' and exists (
    select from change where change.change_request_id = request.id and (
      change.feature = any ($2::text[])
      or ${hasParentSql('$2')}
      or ${hasReferenceSql('strategy')} and change.payload ->> 'id' = any ($3::text[])
      or ${hasReferenceSql('strategies')} and exists (
        select from json_array_elements(change.payload) moved where moved ->> 'id' = any ($3::text[]))
      or ${hasReferenceSql('variants')} and change.feature = any ($4::text[])))
  order by request.id limit 300`);

/** The changes of scheduled requests to features, parents or segments: `$1` project, `$2` features, `$3` segments. */
const selectScheduledChanges = prepared(`
  select request.id, request.title, request.environment, json_agg(json_build_object(
    'action', change.action, 'feature', change.feature, 'segment', change.segment_id, 'payload', change.payload)
    order by change.position) as changes
  from change_request request join change on change.change_request_id = request.id
  where request.project = $1 and request.state = 'Scheduled' and (
    change.feature = any ($2::text[]) or change.segment_id = any ($3::integer[])
    or ${hasParentSql('$2')}
    or cardinality($3::integer[]) > 0 and ${hasReferenceSql('segments')})
  group by request.id order by request.id limit 300`);

/** Open requests that add segments to strategies: `$1` project, `$2` segments. */
export const selectSegmentUses = prepared(`
  select distinct request.id, used.segment::integer as segment
  from change_request request join change on change.change_request_id = request.id,
    ${segmentsOfStrategySql} used (segment)
  where request.project = $1 and ${isOpenSql}
    and ${hasReferenceSql('segments')} and used.segment = any ($2::text[])`);

/** Lists that open requests give to segments: `$1` segments, `$2` roots of lists. */
const selectNeededSegmentLists = prepared(`
  select distinct change.segment_id as segment, change.payload ->> 'root' as root
  from change join change_request request on request.id = change.change_request_id
  where change.segment_id = any ($1::integer[]) and change.action = 'updateSegmentList'
    and change.payload ->> 'root' = any ($2::text[]) and ${isOpenSql}`);

/**
 * Strategies to which open requests add a segment, oldest request first: `$1` segment, `$2` the caller, `$3` projects
 * hidden from the caller. Drafts of others have no id and title.
 */
const selectStrategiesUsing = prepared(`
  select
    case when ${isVisibleSql('$2')}
      then json_build_object('id', request.id, 'title', request.title) end as request,
    json_build_object('id', ${idOfStrategyWithSegmentsSql},
      'projectId', request.project, 'featureName', change.feature, 'environment', request.environment,
      'strategyName', coalesce(change.payload ->> 'name', change.snapshot ->> 'name', '')) as strategy
  from change_request request join change on change.change_request_id = request.id
  where ${isOpenSql} and request.project <> all ($3::text[])
    and ${hasReferenceSql('segments')} and json_typeof(change.payload -> 'segments') = 'array'
    and $1::text in (select json_array_elements_text(change.payload -> 'segments'))
  order by request.id, change.position limit 1000`);

/**
 * A page of the matching requests, and their total number: `$1` projects, `$2` the caller, `$3` author, `$4` requested approver,
 * `$5` `open`, `closed` or `scheduled`, `$6` offset, `$7` limit, `$8` ids.
 */
const selectSearchPage = prepared(`
  with matching as (
    select id from change_request request
    where request.project = any ($1::text[]) and ${isVisibleSql('$2')}
      and ($3::bigint is null or request.created_by_id = $3)
      and ($4::bigint is null or request.id in (select change_request_id from requested_approver where user_id = $4))
      and ($5::text is null or case $5 when 'scheduled' then request.state = 'Scheduled' else ($5 = 'open') = ${isOpenSql} end)
      and ($8::bigint[] is null or request.id = any ($8))
  ), page as (select id from matching order by id desc offset $6 limit $7)
  select (select count(*) from matching) as total, coalesce((
    select json_agg(json_build_object(
      'id', request.id, 'title', request.title, 'createdAt', ${timestampSql('request.created_at')}, 'createdBy', ${person('request')},
      'environment', request.environment, 'project', request.project, 'state', request.state,
      'actions', coalesce((select json_agg(distinct action) from change where change_request_id = request.id), '[]'),
      'features', coalesce((select json_agg(name order by first_position) from (
        select feature as name, min(position) as first_position from change
        where change_request_id = request.id and feature is not null group by feature) as features), '[]'),
      'segments', coalesce((select json_agg(name order by first_position) from (
        select (array_agg(segment_name order by position desc))[1] as name, min(position) as first_position from change
        where change_request_id = request.id and segment_id is not null group by segment_id) as segments), '[]'),
      'schedule', (
        select json_build_object('status', schedule.status, 'scheduledAt', ${timestampSql('schedule.scheduled_at')},
          'reason', schedule.reason)
        from schedule where schedule.change_request_id = request.id)
      ) order by request.id desc)
    from change_request request join page on page.id = request.id), '[]') as found`);

const selectRequestedApprovers = prepared(
  'select user_id as id from requested_approver where change_request_id = $1 order by position',
);

/** Whether something can undo an applied request: `$1` its id. */
const selectIsRevertible = prepared(
  `select from change_request where id = $1 and json_typeof(inverse) = 'array' and json_array_length(inverse) > 0`,
);

/** Groups of requests in review that a user has neither proposed nor approved, by where they are and what they affect: `$1` projects, `$2` user. */
const selectReviewableGroups = prepared(`
  select request.project, request.environment, exists (
      select from change where change.change_request_id = request.id and change.action in ${sqlList(actionsOfWholeProject)}) as "affectsAll",
    json_agg(request.id) as ids
  from change_request request
  where request.${isPendingSql} and request.state in ${sqlList(statesToReview)} and request.project = any ($1::text[])
    and request.created_by_id <> $2 and request.applying is null
    and not exists (
      select from approval where approval.change_request_id = request.id and approval.created_by_id = $2)
  group by 1, 2, 3`);

/** The numbers of requests to review and to apply by environment and by what they affect, without those that wait for their scheduled time: `$1` project, `$2` user. */
const countActionableByEnvironment = prepared(`
  select request.environment, request.created_by_id = $2 as own, exists (
      select from change where change.change_request_id = request.id and change.action in ${sqlList(actionsOfWholeProject)}) as "affectsAll",
    count(*) filter (where request.state in ${sqlList(statesToReview)} and not exists (
      select from approval where approval.change_request_id = request.id and approval.created_by_id = $2)) as "toReview",
    count(*) filter (where request.state in ${sqlList(statesToApply)} and schedule.status is distinct from 'pending') as "toApply"
  from change_request request left join schedule on schedule.change_request_id = request.id
  where request.project = $1 and request.state in ${sqlList([...statesToReview, ...statesToApply])}
  group by 1, 2, 3`);

export const selectProtectedEnvironments = prepared(
  `select environment, required_approvals as "requiredApprovals" from protected_environment where project = $1`,
);

/** A strategy to which a request adds a segment. The request is null if it is a draft of another user. */
export interface StrategyUse {
  readonly request: { readonly id: number; readonly title: string | null } | null;
  readonly strategy: {
    readonly id: string | null;
    readonly projectId: string;
    readonly featureName: string;
    readonly strategyName: string;
    readonly environment: string;
  };
}

/** A request in a search result. */
export interface FoundRequest extends Pick<
  ChangeRequest,
  'id' | 'title' | 'createdAt' | 'createdBy' | 'environment' | 'project' | 'state'
> {
  /** what its changes do, each once */
  readonly actions: readonly ChangeAction[];
  readonly features: string[];
  readonly segments: string[];
  readonly schedule: Pick<Schedule, 'status' | 'scheduledAt' | 'reason'> | null;
}

/** Requests in review of one environment, and whether they affect every environment of the project. */
export interface ReviewableGroup extends EnvironmentRef {
  readonly affectsAll: boolean;
  readonly ids: readonly number[];
}

export interface CountsByState {
  readonly total: number;
  readonly applied: number;
  readonly approved: number;
  readonly rejected: number;
  readonly reviewRequired: number;
  readonly scheduled: number;
}

/** Reads committed requests, outside of a transaction. */
export function changeRequestReader(database: ReadDatabase) {
  const requests = async (statement: Statement, values: readonly unknown[]): Promise<ChangeRequest[]> =>
    (await database.read<RequestRow>(statement, values)).map(({ request }) => request);
  return {
    /** The request of a user that accepts changes: the draft, or else the newest one; with `draftOnly` the draft only. */
    acceptingRequest: async (
      userId: number,
      { project, environment }: EnvironmentRef,
      { draftOnly }: { readonly draftOnly: boolean },
    ): Promise<ChangeRequest | undefined> =>
      (await requests(selectAcceptingRequest, [userId, project, environment, draftOnly]))[0],
    /** The pending requests of a user in a project, also while they are applied, by environment and id. */
    pendingOfUser: (userId: number, project: string) => requests(selectPendingOfUser, [userId, project]),
    /**
     * The request of a path.
     * @throws Refusal `NotFoundError` if the project has no such request, or if it is a draft of another user.
     */
    getVisible: async ({ id, projectId }: RequestPath, userId: number): Promise<ChangeRequest> => {
      const [request] = await requests(selectRequest, [id]);
      return requireVisible(request?.project === projectId ? request : undefined, id, userId);
    },
    /** The request of that id, in whatever project. */
    byId: async (id: number): Promise<ChangeRequest | undefined> => (await requests(selectRequest, [id]))[0],
    /** The newest 300 of a project, without the drafts of others. */
    ofProject: (project: string, userId: number) => requests(selectRequestsOfProject, [project, userId]),
    /** The pending requests that affect a feature, without the drafts of others. */
    pendingOfFeature: (project: string, userId: number, feature: string) =>
      requests(selectPendingOfFeature, [project, userId, feature]),
    countsByState: async (project: string): Promise<CountsByState> =>
      onlyRow(await database.read<CountsByState>(countByState, [project])),
    /** The numbers of requests to review and to apply, by environment and by whether the user is the author. */
    actionable: (project: string, userId: number) =>
      database.read<ActionableCounts>(countActionableByEnvironment, [project, userId]),
    /** The environments in which open requests that a user may see change features. */
    waitingChanges: (features: readonly string[], userId: number, hiddenProjects: readonly string[]) =>
      database.read<{ feature: string; environment: string }>(selectWaitingChanges, [features, userId, hiddenProjects]),
    /** The numbers of open requests that a user may see, by project. */
    openCounts: (userId: number, hiddenProjects: readonly string[]) =>
      database.read<{ id: string; open: number }>(countOpenByProject, [userId, hiddenProjects]),
    protectedEnvironmentsOf: (projects: readonly string[]) =>
      database.read<EnvironmentRef>(selectProtectionsOfProjects, [projects]),
    protectedEnvironments: (project: string) => database.read<Protection>(selectProtectedEnvironments, [project]),
    /** The next requests by id that have approvals and are not applied yet, in all projects or one: those after an id, at most 200. */
    approvedAfter: (id: number, project?: string) => requests(selectApprovedRequests, [id, project ?? null]),
    /** Scheduled requests of a project that affect any of some features, strategies or variants, by id. */
    scheduledAffecting: async (
      project: string,
      { features, strategies, variants }: Readonly<Record<'features' | 'strategies' | 'variants', readonly string[]>>,
    ): Promise<{ readonly id: number; readonly environment: string; readonly title: string | null }[]> =>
      features.length + strategies.length + variants.length === 0
        ? []
        : database.read(selectScheduledAffecting, [project, features, strategies, variants]),
    /** The changes of scheduled requests in a project that affect any of the given features or segments. */
    scheduled: async (
      project: string,
      features: readonly string[],
      segments: readonly number[],
    ): Promise<ScheduledRequest[]> =>
      features.length + segments.length === 0
        ? []
        : database.read(selectScheduledChanges, [project, features, segments]),
    /** The open requests that add any of these segments to strategies. */
    segmentUses: async (project: string, segments: readonly number[]): Promise<SegmentUse[]> =>
      segments.length === 0 ? [] : database.read(selectSegmentUses, [project, segments.map(String)]),
    /** The lists among some that open requests give to their segments. */
    neededSegmentLists: (lists: RequestOf<typeof FindNeededSegmentLists>['body']['lists']) =>
      database.read<(typeof lists)[number]>(selectNeededSegmentLists, [
        lists.map(({ segment }) => segment),
        lists.map(({ root }) => root),
      ]),
    /** The strategies to which open requests add a segment, as visible to a user. */
    strategiesUsing: (segment: number, userId: number, hidden: readonly string[]) =>
      database.read<StrategyUse>(selectStrategiesUsing, [String(segment), userId, hidden]),
    /** A page of the matching requests of some projects, newest first, without the drafts of others. */
    search: async (
      projects: readonly string[],
      userId: number,
      { createdBy, requestedApprover, state }: ChangeRequestFilter,
      { offset, limit }: { readonly offset: number; readonly limit: number },
      ids?: readonly number[],
    ): Promise<{ readonly total: number; readonly found: readonly FoundRequest[] }> => {
      const criteria = [createdBy ?? null, requestedApprover ?? null, state ?? null];
      const values = [projects, userId, ...criteria, offset, limit, ids ?? null];
      return onlyRow(await database.read<{ total: number; found: FoundRequest[] }>(selectSearchPage, values));
    },
    /** The requests in review in some projects that a user has neither proposed nor approved, in groups to which the same permissions apply. */
    reviewable: (projects: readonly string[], userId: number) =>
      database.read<ReviewableGroup>(selectReviewableGroups, [projects, userId]),
    /** Whether something can undo an applied request. */
    isRevertible: async (id: number): Promise<boolean> => (await database.read(selectIsRevertible, [id])).length > 0,
    /** Ids of the users whose approval is requested, in display order. */
    requestedApprovers: async (id: number): Promise<number[]> =>
      (await database.read<{ id: number }>(selectRequestedApprovers, [id])).map(({ id: userId }) => userId),
  };
}
export type ChangeRequestReader = ReturnType<typeof changeRequestReader>;
