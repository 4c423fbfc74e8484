import { brokenConstraint, type Database, type Tx } from '@bunting/database';
import { randomUUID } from 'node:crypto';
import type { Planned } from '../domain/among-requests.ts';
import type { ChangeRequest, ProposedChange, Schedule, Verdict } from '../domain/change-request.ts';
import {
  actionableByEnvironment,
  countsByState,
  newChangeIds,
  oneRequest,
  openRequest,
  openRequests,
  pendingOfFeature,
  plannedChanges,
  protectedEnvironments,
  requestById,
  requestedApprovers,
  requestsOfProject,
  scheduledTouching,
  searchRequests,
  segmentUses,
  storeDraft,
  storeRequest,
  strategiesUsing,
} from './statements.ts';
import { openDraftIndex, openStates } from './migrations/tables.ts';

interface Row {
  readonly request: ChangeRequest;
}

/** Where a request belongs. */
export interface Place {
  readonly project: string;
  readonly environment: string;
}

/** Requests as they are now, for who only looks. */
export interface ChangeRequestReader {
  /** The request of a user that takes changes there: the draft if there is one, else the newest; or the draft alone. */
  open(userId: number, place: Place, onlyDraft?: boolean): Promise<ChangeRequest | undefined>;
  /** Ids for changes that are about to be stored, ascending. Those that are not used in the end are used by nobody. */
  newChangeIds(count: number): Promise<number[]>;
  /** All requests of a user that take changes in a project, by environment and id: one statement, however many they are. */
  allOpen(userId: number, project: string): Promise<ChangeRequest[]>;
  /** The request of that id in that project. */
  one(id: number, project: string): Promise<ChangeRequest | undefined>;
  /** The newest 300 of a project, without the drafts of others. */
  ofProject(project: string, userId: number): Promise<ChangeRequest[]>;
  /** Those that are pending and touch a feature, without the drafts of others. */
  pendingOf(project: string, userId: number, feature: string): Promise<ChangeRequest[]>;
  counts(project: string): Promise<Counts>;
  /** What there is to review and to apply, by environment and by whether the user is the author. */
  actionable(project: string, userId: number): Promise<Actionable[]>;
  protectedEnvironments(project: string): Promise<ProtectedEnvironment[]>;
  /** Scheduled requests of a project that touch any of some features, strategies or variants, by id. */
  scheduledTouching(
    project: string,
    features: readonly string[],
    strategies: readonly string[],
    variants: readonly string[],
  ): Promise<{ readonly id: number; readonly environment: string; readonly title: string | null }[]>;
  /** What scheduled requests of a project are about to do to some features, or to segments and who uses them. */
  planned(project: string, features: readonly string[], segments: readonly number[]): Promise<Planned[]>;
  /** Which requests that are not closed are about to give which of these segments to strategies. */
  segmentUses(project: string, segments: readonly number[]): Promise<SegmentUse[]>;
  /** The strategies that requests that are not closed are about to give a segment to, as a user may see them. */
  strategiesUsing(segment: number, userId: number, hidden: readonly string[]): Promise<StrategyUse[]>;
  /** A page of the requests of some projects that match, newest first and without the drafts of others. */
  search(
    projects: readonly string[],
    userId: number,
    filter: ChangeRequestFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly total: number; readonly found: readonly FoundRequest[] }>;
  /** Ids of the users whose approval is asked for, in the order in which they are to be shown. */
  requestedApprovers(id: number): Promise<number[]>;
}

export interface SegmentUse {
  readonly id: number;
  readonly segment: number;
}

/** A strategy that would use a segment; its request, unless that is a draft of somebody else. */
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

/** What a search asks for; what is left out does not matter. */
export interface ChangeRequestFilter {
  readonly createdBy: number | undefined;
  readonly requestedApprover: number | undefined;
  readonly open: boolean | undefined;
}

/** A request as a search finds it. */
export interface FoundRequest extends Pick<
  ChangeRequest,
  'id' | 'title' | 'createdAt' | 'createdBy' | 'environment' | 'project' | 'state'
> {
  readonly features: string[];
  readonly segments: string[];
  readonly schedule: Pick<Schedule, 'status' | 'scheduledAt' | 'reason'> | null;
}

export interface Counts {
  readonly total: number;
  readonly applied: number;
  readonly approved: number;
  readonly rejected: number;
  readonly reviewRequired: number;
  readonly scheduled: number;
}

export interface Actionable {
  readonly environment: string;
  readonly own: boolean;
  readonly toReview: number;
  readonly toApply: number;
}

/** An environment in which edits take a change request. */
export interface ProtectedEnvironment {
  readonly environment: string;
  readonly requiredApprovals: number;
}

export const changeRequestReader = (database: Database): ChangeRequestReader => ({
  open: async (userId, { project, environment }, onlyDraft = false) =>
    (await database.read<Row>(openRequest, [userId, project, environment, onlyDraft]))[0]?.request,
  newChangeIds: async (count) => (await database.read<{ id: number }>(newChangeIds, [count])).map(({ id }) => id),
  allOpen: async (userId, project) =>
    (await database.read<Row>(openRequests, [userId, project])).map(({ request }) => request),
  one: async (id, project) => {
    const request = (await database.read<Row>(oneRequest, [id]))[0]?.request;
    return request?.project === project ? request : undefined;
  },
  ofProject: async (project, userId) =>
    (await database.read<Row>(requestsOfProject, [project, userId])).map(({ request }) => request),
  pendingOf: async (project, userId, feature) =>
    (await database.read<Row>(pendingOfFeature, [project, userId, feature])).map(({ request }) => request),
  counts: async (project) => (await database.read<Counts>(countsByState, [project]))[0] as Counts,
  actionable: (project, userId) => database.read<Actionable>(actionableByEnvironment, [project, userId]),
  protectedEnvironments: (project) => database.read<ProtectedEnvironment>(protectedEnvironments, [project]),
  scheduledTouching: async (project, features, strategies, variants) =>
    features.length + strategies.length + variants.length === 0
      ? []
      : database.read(scheduledTouching, [project, features, strategies, variants]),
  planned: async (project, features, segments) =>
    features.length + segments.length === 0 ? [] : database.read(plannedChanges, [project, features, segments]),
  segmentUses: async (project, segments) =>
    segments.length === 0 ? [] : database.read(segmentUses, [project, segments.map(String)]),
  strategiesUsing: (segment, userId, hidden) =>
    database.read<StrategyUse>(strategiesUsing, [String(segment), userId, hidden]),
  search: async (projects, userId, { createdBy, requestedApprover, open }, { offset, limit }) => {
    const values = [projects, userId, createdBy ?? null, requestedApprover ?? null, open ?? null, offset, limit];
    const [row] = await database.read<{ total: number; found: FoundRequest[] }>(searchRequests, values);
    return row ?? { total: 0, found: [] };
  },
  requestedApprovers: async (id) =>
    (await database.read<{ id: number }>(requestedApprovers, [id])).map(({ id: userId }) => userId),
});

/** The author has got another draft there in the meantime: nothing of this unit of work can be stored. */
export class AnotherOpenRequest extends Error {}

/** Requests within a unit of work. */
export interface ChangeRequestRepository {
  /** What was locked, as it was then. */
  readonly locked: readonly ChangeRequest[];
  /** What was written last, as it is from now on; nothing once it was removed. */
  readonly written: () => ChangeRequest | undefined;

  /** Whether the user has a request there that takes changes, or a draft. Until the end of this work nobody else makes one. */
  hasOpen(userId: number, place: Place, onlyDraft: boolean): Promise<boolean>;
  /** What a new request is known by. The id is shown; the uid is never given twice, whatever is restored. */
  newIdentity(): Promise<Pick<ChangeRequest, 'id' | 'uid'>>;
  /** Ids for what is about to be stored, ascending. Those that are not used in the end are used by nobody. */
  newChangeIds(count: number): Promise<number[]>;
  newCommentId(): Promise<number>;
  /** How many approvals a new request needs there; null where none is configured. */
  minApprovals(place: Place): Promise<number | null>;
  /** The moment by the clock of the database, which all replicas share. */
  now(): Promise<Date>;
  /** The request, locked: whoever else wants to write it waits for the end of this unit of work. */
  getForUpdate(id: number): Promise<ChangeRequest | undefined>;
  /** The same, if it belongs to the project. */
  getInProject(id: number, project: string): Promise<ChangeRequest | undefined>;
  /** The request that was made of an import. Until the end of this work nobody else makes one of it. */
  ofImport(importId: string): Promise<number | undefined>;
  /**
   * Stores a new request, and which import it was made of. Waits for a request of the same author, project and environment
   * that is being stored now.
   */
  add(request: ChangeRequest, importId?: string): Promise<void>;
  /** Stores what became of a request that was locked before. */
  save(before: ChangeRequest, after: ChangeRequest): Promise<void>;
  /**
   * Stores another content of a draft that was read and not locked. False, and nothing is stored, if its content is another by
   * now, or it is no draft any more: a draft has no approvals that would have to go, so it takes no look at the rest of it.
   */
  saveDraft(before: ChangeRequest, after: ChangeRequest): Promise<boolean>;
  /** Deletes a request that was locked before. */
  remove(id: number): Promise<void>;
  /** Remembers how to undo a request that was applied. */
  saveInverse(id: number, inverse: readonly unknown[]): Promise<void>;
  inverseOf(id: number): Promise<readonly unknown[]>;
  /** Which other requests that are not closed are about to give which of these segments to strategies. */
  segmentUses(project: string, segments: readonly number[]): Promise<SegmentUse[]>;
  /** Asks for the approval of these users and of no others. */
  requestApprovers(before: ChangeRequest, userIds: readonly number[]): Promise<void>;
  /** Protects an environment, or no longer; gives what was set before. */
  protect(place: Place, requiredApprovals: number | null): Promise<number | null>;
}

const changeRow = (change: ProposedChange) => ({
  id: change.id,
  position: change.position,
  action: change.action,
  feature: change.feature,
  segment_id: change.segment?.id ?? null,
  segment_name: change.segment?.name ?? null,
  payload: change.payload,
  snapshot: change.snapshot,
  created_by_id: change.createdBy.id,
  created_by_name: change.createdBy.name,
  created_at: change.createdAt,
});

export const changeRequestRepository = ({ query }: Tx): ChangeRequestRepository => {
  const locked: ChangeRequest[] = [];
  let written: ChangeRequest | undefined;
  const getForUpdate = async (id: number): Promise<ChangeRequest | undefined> => {
    // Two statements: the second one sees what was committed while the first one waited.
    await query('select from change_request where id = $1 for update', [id]);
    const request = (await query<Row>(requestById, [id]))[0]?.request;
    if (request !== undefined) locked.push(request);
    return request;
  };

  /** Ids of the changes that a request has no more, and the changes that are new or other than before. */
  const contentOf = (before: readonly ProposedChange[], after: readonly ProposedChange[]): unknown[] => {
    const earlier = new Set(before);
    const kept = new Set(after.map((change) => change.id));
    return [
      before.flatMap((change) => (kept.has(change.id) ? [] : change.id)),
      JSON.stringify(after.filter((change) => !earlier.has(change)).map(changeRow)),
    ];
  };

  const store = async (request: ChangeRequest, before: readonly ProposedChange[]): Promise<void> => {
    const { id, project, environment, title, state, minApprovals, createdBy, createdAt, revision } = request;
    await query(storeRequest, [
      ...[id, project, environment, title, state, minApprovals, createdBy.id, createdBy.name, createdAt, revision],
      JSON.stringify(request.stateTimestamps),
      ...contentOf(before, request.changes),
      request.uid,
    ]);
  };

  const addVerdicts = async (table: 'approval' | 'rejection', id: number, verdicts: readonly Verdict[]) => {
    for (const { createdBy, createdAt } of verdicts) {
      await query(`insert into ${table} values ($1, $2, $3, $4)`, [id, createdBy.id, createdBy.name, createdAt]);
    }
  };

  const saveReview = async (before: ChangeRequest, after: ChangeRequest): Promise<void> => {
    const { id, schedule } = after;
    const isNew = (known: readonly Verdict[]) => (verdict: Verdict) =>
      !known.some(({ createdBy }) => createdBy.id === verdict.createdBy.id);
    const withdrawn = before.approvals.filter(isNew(after.approvals)).map(({ createdBy }) => createdBy.id);
    if (withdrawn.length > 0) {
      const text = 'delete from approval where change_request_id = $1 and created_by_id = any ($2::bigint[])';
      await query(text, [id, withdrawn]);
    }
    await addVerdicts('approval', id, after.approvals.filter(isNew(before.approvals)));
    await addVerdicts('rejection', id, after.rejections.filter(isNew(before.rejections)));
    for (const comment of after.comments.slice(before.comments.length)) {
      const { createdBy, createdAt } = comment;
      const values = [comment.id, id, comment.text, createdBy.id, createdBy.name, createdAt];
      await query(
        `insert into comment (id, change_request_id, text, created_by_id, created_by_name, created_at)
         values ($1, $2, $3, $4, $5, $6)`,
        values,
      );
    }
    if (after.applying !== before.applying || after.attempts !== before.attempts) {
      const applying = after.applying === null ? null : JSON.stringify(after.applying);
      const text = `update change_request set applying = $2::jsonb, attempts = $3,
        applying_since = case when $2::jsonb is not null then clock_timestamp() end where id = $1`;
      await query(text, [id, applying, after.attempts]);
    }
    if (schedule === before.schedule) return;
    await query('delete from schedule where change_request_id = $1', [id]);
    if (schedule === null) return;
    const { status, scheduledAt, by, reason, snapshots } = schedule;
    await query(
      `insert into schedule (change_request_id, status, scheduled_at, by_id, by_name, reason, snapshots)
       values ($1, $2, $3, $4, $5, $6, $7::json)`,
      [id, status, scheduledAt, by.id, by.name, reason, JSON.stringify(snapshots)],
    );
  };

  return {
    locked,
    written: () => written,

    hasOpen: async (userId, { project, environment }, onlyDraft) => {
      await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
        JSON.stringify([userId, project, environment]),
      ]);
      const found = await query(
        `select from change_request
         where created_by_id = $1 and project = $2 and environment = $3 and state in ${openStates}
           and (state = 'Draft' or not $4) and applying is null limit 1`,
        [userId, project, environment, onlyDraft],
      );
      return found.length > 0;
    },

    newIdentity: async () => {
      const [row] = await query<{ id: number }>("select nextval('change_request_id_seq') as id");
      if (row === undefined) throw new Error('A sequence always has a next value.');
      return { id: row.id, uid: randomUUID() };
    },

    newChangeIds: async (count) => (await query<{ id: number }>(newChangeIds.text, [count])).map(({ id }) => id),

    newCommentId: async () => {
      const [row] = await query<{ id: number }>("select nextval('comment_id_seq') as id");
      if (row === undefined) throw new Error('A sequence always has a next value.');
      return row.id;
    },

    minApprovals: async ({ project, environment }) => {
      const text =
        'select required_approvals as needed from protected_environment where project = $1 and environment = $2';
      return (await query<{ needed: number }>(text, [project, environment]))[0]?.needed ?? null;
    },

    now: async () => {
      const [row] = await query<{ now: number }>('select extract(epoch from clock_timestamp())::float8 * 1000 as now');
      return new Date(row?.now ?? Number.NaN);
    },

    remove: async (id) => {
      written = undefined;
      await query('delete from change_request where id = $1', [id]);
    },

    saveInverse: async (id, inverse) => {
      await query('update change_request set inverse = $2::json where id = $1', [id, JSON.stringify(inverse)]);
    },

    inverseOf: async (id) => {
      const [row] = await query<{ inverse: unknown[] | null }>('select inverse from change_request where id = $1', [
        id,
      ]);
      return row?.inverse ?? [];
    },

    segmentUses: async (project, segments) =>
      segments.length === 0 ? [] : query(segmentUses.text, [project, segments.map(String)]),

    requestApprovers: async (before, userIds) => {
      const { id } = before;
      const others = 'delete from requested_approver where change_request_id = $1 and user_id <> all ($2::bigint[])';
      await query(others, [id, userIds]);
      await query(
        `insert into requested_approver (change_request_id, user_id, place)
         select $1, user_id, place from unnest($2::bigint[]) with ordinality as asked (user_id, place)
         on conflict (change_request_id, user_id) do update set place = excluded.place`,
        [id, userIds],
      );
      written = { ...before, requestedApprovers: userIds };
    },

    protect: async ({ project, environment }, requiredApprovals) => {
      await query('select pg_advisory_xact_lock(hashtext($1), hashtext($2))', [project, environment]);
      const where = 'where project = $1 and environment = $2';
      const [row] = await query<{ before: number }>(
        `select required_approvals as before from protected_environment ${where}`,
        [project, environment],
      );
      if (requiredApprovals === null) {
        await query(`delete from protected_environment ${where}`, [project, environment]);
      } else {
        await query(
          `insert into protected_environment values ($1, $2, $3)
           on conflict (project, environment) do update set required_approvals = excluded.required_approvals`,
          [project, environment, requiredApprovals],
        );
      }
      const before = row?.before ?? null;
      if ((before === null) !== (requiredApprovals === null)) {
        const text = 'insert into protection_to_tell (project, environment, is_protected) values ($1, $2, $3)';
        await query(text, [project, environment, requiredApprovals !== null]);
      }
      return before;
    },

    getForUpdate,
    getInProject: async (id, project) => {
      const request = await getForUpdate(id);
      return request?.project === project ? request : undefined;
    },

    ofImport: async (importId) => {
      await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [importId]);
      const text = 'select id from change_request where import_id = $1';
      return (await query<{ id: number }>(text, [importId]))[0]?.id;
    },

    add: async (request, importId) => {
      try {
        await store(request, []);
        written = request;
        if (importId === undefined) return;
        await query('update change_request set import_id = $2 where id = $1', [request.id, importId]);
      } catch (error) {
        throw brokenConstraint(error) === openDraftIndex ? new AnotherOpenRequest() : error;
      }
    },

    save: async (before, after) => {
      await store(after, before.changes);
      await saveReview(before, after);
      written = after;
    },

    saveDraft: async ({ id, revision, changes }, after) => {
      const isStored = (await query(storeDraft, [id, revision, ...contentOf(changes, after.changes)])).length > 0;
      if (isStored) written = after;
      return isStored;
    },
  };
};
