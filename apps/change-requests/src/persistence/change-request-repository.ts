import type { InverseChange } from '@bunting/contracts';
import { violatedConstraint, type Database, persistDifference, type Statement, type Tx } from '@bunting/database';
import { raw } from '@mikro-orm/postgresql';
import { randomUUID } from 'node:crypto';
import type { ScheduledRequest } from '../domain/conflicts-with-other-requests.ts';
import type { ChangeRequest, Schedule, Review } from '../domain/change-request.ts';
import {
  ApprovalEntity,
  ChangeEntity,
  ChangeRequestEntity,
  CommentEntity,
  oneDraftIndex,
  pendingStates,
  ProtectedEnvironmentEntity,
  UnsyncedProtectionEntity,
  RejectionEntity,
  RequestedApproverEntity,
  ScheduleEntity,
} from './entities.ts';
import {
  actionableByEnvironment,
  changeRows,
  countsByState,
  newChangeIds,
  oneRequest,
  pendingRequest,
  pendingRequests,
  pendingOfFeature,
  scheduledChanges,
  protectedEnvironments,
  requestById,
  requestedApprovers,
  requestsOfProject,
  scheduledAffecting,
  searchRequests,
  segmentUses,
  storeDraft,
  strategiesUsing,
} from './statements.ts';
import { lockProtection } from './protection-repository.ts';

interface Row {
  readonly request: ChangeRequest;
}

/** The project and environment of a request. */
export interface EnvironmentRef {
  readonly project: string;
  readonly environment: string;
}

export interface SegmentUse {
  readonly id: number;
  readonly segment: number;
}

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

/** The filter of a search. An undefined property matches every request. */
export interface ChangeRequestFilter {
  readonly createdBy: number | undefined;
  readonly requestedApprover: number | undefined;
  readonly isOpen: boolean | undefined;
}

/** A request in a search result. */
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

/** An environment in which edits require a change request. */
export interface ProtectedEnvironment {
  readonly environment: string;
  readonly requiredApprovals: number;
}

/** Reads committed requests, outside of a transaction. */
export const changeRequestReader = (database: Database) => {
  const requests = async (statement: Statement, values: readonly unknown[]): Promise<ChangeRequest[]> =>
    (await database.read<Row>(statement, values)).map(({ request }) => request);
  return {
    /** The request of a user that accepts changes: the draft, or else the newest one; with `onlyDraft` the draft only. */
    pendingOfUser: async (
      userId: number,
      { project, environment }: EnvironmentRef,
      onlyDraft = false,
    ): Promise<ChangeRequest | undefined> =>
      (await requests(pendingRequest, [userId, project, environment, onlyDraft]))[0],
    /** Reserves ascending ids for new changes. Unused ids are not reused. */
    newChangeIds: async (count: number): Promise<number[]> =>
      (await database.read<{ id: number }>(newChangeIds, [count])).map(({ id }) => id),
    /** All requests of a user that accept changes in a project, by environment and id, by one statement. */
    allPendingOfUser: (userId: number, project: string) => requests(pendingRequests, [userId, project]),
    /** The request of that id in that project. */
    one: async (id: number, project: string): Promise<ChangeRequest | undefined> =>
      (await requests(oneRequest, [id])).find((request) => request.project === project),
    /** The request of that id, in whatever project. */
    byId: async (id: number): Promise<ChangeRequest | undefined> => (await requests(oneRequest, [id]))[0],
    /** The newest 300 of a project, without the drafts of others. */
    ofProject: (project: string, userId: number) => requests(requestsOfProject, [project, userId]),
    /** The pending requests that affect a feature, without the drafts of others. */
    pendingOf: (project: string, userId: number, feature: string) =>
      requests(pendingOfFeature, [project, userId, feature]),
    counts: async (project: string): Promise<Counts> =>
      (await database.read<Counts>(countsByState, [project]))[0] as Counts,
    /** The numbers of requests to review and to apply, by environment and by whether the user is the author. */
    actionable: (project: string, userId: number) =>
      database.read<Actionable>(actionableByEnvironment, [project, userId]),
    protectedEnvironments: (project: string) => database.read<ProtectedEnvironment>(protectedEnvironments, [project]),
    /** Scheduled requests of a project that affect any of some features, strategies or variants, by id. */
    scheduledAffecting: async (
      project: string,
      features: readonly string[],
      strategies: readonly string[],
      variants: readonly string[],
    ): Promise<{ readonly id: number; readonly environment: string; readonly title: string | null }[]> =>
      features.length + strategies.length + variants.length === 0
        ? []
        : database.read(scheduledAffecting, [project, features, strategies, variants]),
    /** The changes of scheduled requests in a project that affect any of the given features or segments. */
    scheduled: async (
      project: string,
      features: readonly string[],
      segments: readonly number[],
    ): Promise<ScheduledRequest[]> =>
      features.length + segments.length === 0 ? [] : database.read(scheduledChanges, [project, features, segments]),
    /** The open requests that add any of these segments to strategies. */
    segmentUses: async (project: string, segments: readonly number[]): Promise<SegmentUse[]> =>
      segments.length === 0 ? [] : database.read(segmentUses, [project, segments.map(String)]),
    /** The strategies to which open requests add a segment, as visible to a user. */
    strategiesUsing: (segment: number, userId: number, hidden: readonly string[]) =>
      database.read<StrategyUse>(strategiesUsing, [String(segment), userId, hidden]),
    /** A page of the matching requests of some projects, newest first, without the drafts of others. */
    search: async (
      projects: readonly string[],
      userId: number,
      { createdBy, requestedApprover, isOpen }: ChangeRequestFilter,
      { offset, limit }: { readonly offset: number; readonly limit: number },
    ): Promise<{ readonly total: number; readonly found: readonly FoundRequest[] }> => {
      const values = [projects, userId, createdBy ?? null, requestedApprover ?? null, isOpen ?? null, offset, limit];
      const [row] = await database.read<{ total: number; found: FoundRequest[] }>(searchRequests, values);
      return row ?? { total: 0, found: [] };
    },
    /** Ids of the users whose approval is requested, in display order. */
    requestedApprovers: async (id: number): Promise<number[]> =>
      (await database.read<{ id: number }>(requestedApprovers, [id])).map(({ id: userId }) => userId),
  };
};
export type ChangeRequestReader = ReturnType<typeof changeRequestReader>;

/** The author concurrently created another draft for the project and environment: this unit of work cannot commit. */
export class AnotherPendingRequest extends Error {}

const rowOf = (request: ChangeRequest) => {
  const { id, uid, project, environment, title, state, minApprovals, createdBy, createdAt } = request;
  const { revision, stateTimestamps, applying, attempts } = request;
  return {
    id,
    uid,
    project,
    environment,
    title,
    state,
    minApprovals,
    createdBy,
    createdAt,
    revision,
    stateTimestamps,
    applying,
    attempts,
  };
};

/** Schedules the difference between two states of a request for the next flush. */
const persistRequest = (em: Tx['em'], before: ChangeRequest | undefined, after: ChangeRequest, importId?: string) => {
  const request = after.id;
  const begins = after.applying !== null && (after.applying !== before?.applying || after.attempts !== before.attempts);
  persistDifference(em, ChangeRequestEntity, [before ?? []].flat(), [after], (one) => ({
    ...rowOf(one),
    ...(importId === undefined ? {} : { importId }),
    ...(one === after && begins ? { applyingSince: raw('clock_timestamp()') } : {}),
    ...(one === after && one.applying === null ? { applyingSince: null } : {}),
  }));
  persistDifference(em, ChangeEntity, before?.changes ?? [], after.changes, (change) => ({ ...change, request }));
  const review = ({ createdBy, createdAt }: Review) => ({
    request,
    createdById: createdBy.id,
    createdByName: createdBy.name,
    createdAt,
  });
  persistDifference(em, ApprovalEntity, before?.approvals ?? [], after.approvals, review);
  persistDifference(em, RejectionEntity, before?.rejections ?? [], after.rejections, review);
  persistDifference(em, CommentEntity, before?.comments ?? [], after.comments, (one) => ({ ...one, request }));
  // A new schedule is checked for conflicts once. One that has failed stays failed until something that it affects changes.
  persistDifference(em, ScheduleEntity, [before?.schedule ?? []].flat(), [after.schedule ?? []].flat(), (one) => ({
    ...one,
    request,
    ...(one === after.schedule ? { uncheckedEdits: one.status === 'pending' ? 1 : 0 } : {}),
  }));
};

/** Requests within a unit of work. */
export const changeRequestRepository = (tx: Tx) => {
  const { query } = tx;
  const locked: ChangeRequest[] = [];
  let written: ChangeRequest | undefined;
  const getForUpdate = async (id: number): Promise<ChangeRequest | undefined> => {
    // Two statements: the second one sees what was committed while the first one waited.
    await query('select from change_request where id = $1 for update', [id]);
    const request = (await query<Row>(requestById, [id]))[0]?.request;
    if (request !== undefined) locked.push(request);
    return request;
  };
  const nextId = async (sequence: string): Promise<number> => {
    const [row] = await query<{ id: number }>('select nextval($1) as id', [sequence]);
    if (row === undefined) throw new Error(`The sequence ${sequence} gave no value.`);
    return row.id;
  };

  return {
    /** The locked requests, as they were when they were locked. */
    locked: locked as readonly ChangeRequest[],
    /** The new state of the request that was written last; undefined once it was removed. */
    written: () => written,

    /** Whether the user has a request that accepts changes, or a draft. Locks out concurrent ones until the end of the transaction. */
    hasPending: async (
      userId: number,
      { project, environment }: EnvironmentRef,
      onlyDraft: boolean,
    ): Promise<boolean> => {
      await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
        JSON.stringify([userId, project, environment]),
      ]);
      const found = await query(
        `select from change_request
         where created_by_id = $1 and project = $2 and environment = $3 and state in ${pendingStates}
           and (state = 'Draft' or not $4) and applying is null limit 1`,
        [userId, project, environment, onlyDraft],
      );
      return found.length > 0;
    },

    /** A new id, which users see, and a new uid, which stays unique even after a restored backup. */
    newIdentity: async (): Promise<Pick<ChangeRequest, 'id' | 'uid'>> => ({
      id: await nextId('change_request_id_seq'),
      uid: randomUUID(),
    }),

    /** Reserves ascending ids for new changes. Unused ids are not reused. */
    newChangeIds: async (count: number): Promise<number[]> =>
      (await query<{ id: number }>(newChangeIds.text, [count])).map(({ id }) => id),
    newCommentId: () => nextId('comment_id_seq'),

    /** The number of approvals that a new request requires; null if the environment is not protected. */
    minApprovals: async ({ project, environment }: EnvironmentRef): Promise<number | null> => {
      const text =
        'select required_approvals as needed from protected_environment where project = $1 and environment = $2';
      return (await query<{ needed: number }>(text, [project, environment]))[0]?.needed ?? null;
    },

    /** The current time by the clock of the database, which all replicas share. */
    now: async (): Promise<Date> => {
      const [row] = await query<{ now: number }>('select extract(epoch from clock_timestamp())::float8 * 1000 as now');
      return new Date(row?.now ?? Number.NaN);
    },

    /** Deletes a request that was locked before. */
    remove: async (id: number): Promise<void> => {
      written = undefined;
      await tx.em.nativeDelete(ChangeRequestEntity, { id });
    },

    /** Stores how to undo a request that was applied. */
    saveInverse: async (id: number, inverse: readonly InverseChange[]): Promise<void> => {
      await tx.em.nativeUpdate(ChangeRequestEntity, { id }, { inverse });
    },

    inverseOf: async (id: number): Promise<readonly InverseChange[]> => {
      const text = 'select inverse from change_request where id = $1';
      return (await query<{ inverse: InverseChange[] | null }>(text, [id]))[0]?.inverse ?? [];
    },

    /** The open requests that add any of these segments to strategies. */
    segmentUses: async (project: string, segments: readonly number[]): Promise<SegmentUse[]> =>
      segments.length === 0 ? [] : query(segmentUses.text, [project, segments.map(String)]),

    /** Replaces the requested approvers with these users. */
    requestApprovers: async (before: ChangeRequest, userIds: readonly number[]): Promise<void> => {
      const rowsOf = (users: readonly number[]) =>
        users.map((userId, position) => ({ request: before.id, userId, position }));
      const asRow = (row: ReturnType<typeof rowsOf>[number]) => row;
      persistDifference(tx.em, RequestedApproverEntity, rowsOf(before.requestedApprovers), rowsOf(userIds), asRow);
      await tx.em.flush();
      written = { ...before, requestedApprovers: userIds };
    },

    /** Sets the required approvals of an environment, or null to remove its protection; returns the previous value. */
    protect: async (environmentRef: EnvironmentRef, requiredApprovals: number | null): Promise<number | null> => {
      const { project, environment } = environmentRef;
      await query(lockProtection, [project, environment]);
      const { em } = tx;
      const before = await em.findOne(ProtectedEnvironmentEntity, { project, environment });
      const approvalsBefore = before?.requiredApprovals ?? null;
      if (requiredApprovals !== null)
        await em.upsert(ProtectedEnvironmentEntity, { ...environmentRef, requiredApprovals });
      else if (before !== null) em.remove(before);
      // Sent also if it does not change: after a restored backup the features service may have another value.
      em.create(UnsyncedProtectionEntity, { project, environment, isProtected: requiredApprovals !== null });
      await tx.em.flush();
      return approvalsBefore;
    },

    /** The request, locked until the end of this unit of work. */
    getForUpdate,
    /** The same, if it belongs to the project. */
    getInProject: async (id: number, project: string): Promise<ChangeRequest | undefined> => {
      const request = await getForUpdate(id);
      return request?.project === project ? request : undefined;
    },

    /** The id of the request created for an import. Locks out concurrent ones until the end of the transaction. */
    ofImport: async (importId: string): Promise<number | undefined> => {
      await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [importId]);
      const text = 'select id from change_request where import_id = $1';
      return (await query<{ id: number }>(text, [importId]))[0]?.id;
    },

    /**
     * Stores a new request, with the id of its import if it has one. Waits for a concurrent insert by the same author in the same project
     * and environment.
     * @throws AnotherPendingRequest if the author has another draft there.
     */
    add: async (request: ChangeRequest, importId?: string): Promise<void> => {
      try {
        persistRequest(tx.em, undefined, request, importId);
        await tx.em.flush();
        written = request;
      } catch (error) {
        throw violatedConstraint(error) === oneDraftIndex ? new AnotherPendingRequest() : error;
      }
    },

    /** Stores the new state of a locked request. */
    save: async (before: ChangeRequest, after: ChangeRequest): Promise<void> => {
      persistRequest(tx.em, before, after);
      await tx.em.flush();
      written = after;
    },

    /**
     * Stores new content of a draft that was read without a lock. Returns false and stores nothing if the draft was edited since, or is no
     * longer a draft. A draft has no approvals to remove, so one statement is enough.
     */
    saveDraft: async ({ id, revision, changes }: ChangeRequest, after: ChangeRequest): Promise<boolean> => {
      const stored = new Set(changes);
      const kept = new Set(after.changes.map((change) => change.id));
      const gone = changes.flatMap((change) => (kept.has(change.id) ? [] : change.id));
      const changed = changeRows(after.changes.filter((change) => !stored.has(change)));
      const isStored = (await query(storeDraft, [id, revision, gone, changed])).length > 0;
      if (isStored) written = after;
      return isStored;
    },
  };
};
export type ChangeRequestRepository = ReturnType<typeof changeRequestRepository>;
