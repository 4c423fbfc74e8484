import type { InverseChange } from '@bunting/contracts';
import { onlyRow, prepared, type Statement, type Tx, violatedConstraint } from '@bunting/database';
import { persistDifference } from '@bunting/database/entities';
import type { Outbox } from '@bunting/outbox';
import { raw } from '@mikro-orm/postgresql';
import { randomUUID } from 'node:crypto';
import type { SegmentUse } from '../previews/conflicts.ts';
import {
  ApprovalEntity,
  ChangeEntity,
  ChangeRequestEntity,
  CommentEntity,
  oneDraftIndex,
  RejectionEntity,
  RequestedApproverEntity,
  ScheduleEntity,
} from '../unit-of-work/entities.ts';
import {
  type ChangeRequest,
  type ChangeRequestDecision,
  type EnvironmentRef,
  type RequestPath,
  requireVisible,
  type Review,
} from './change-request.ts';
import {
  acceptsChangesOfAuthorSql,
  changeRowsJson,
  nowMsSql,
  type RequestRow,
  selectRequestAndNow,
  selectSegmentUses,
  updateDraft,
} from './request-read-store.ts';

/** Ascending ids for new changes, and the time of the database at which they were reserved. */
export interface ReservedIds {
  readonly ids: readonly number[];
  readonly now: Date;
}

const nextIds = prepared(`
  select ${nowMsSql} as "nowMs", array_to_json(array(select nextval('change_id_seq') from generate_series(1, $1::integer))) as ids`);

/** Sends a statement in a transaction, or outside of any. */
type Query = (
  statement: Statement,
  values: readonly unknown[],
) => Promise<{ readonly ids: number[]; readonly nowMs: number }[]>;

/** Reserves ids for new changes, also outside of a transaction: unused ids are not reused. */
export function reserveChangeIdsBy(query: Query) {
  return async (count: number): Promise<ReservedIds> => {
    const { ids, nowMs: now } = onlyRow(await query(nextIds, [count]));
    return { ids, now: new Date(now) };
  };
}

/** Returns ids for new changes. */
export type NewChangeIds = ReturnType<typeof reserveChangeIdsBy>;

/** The author concurrently created another draft for the project and environment: this unit of work cannot commit. */
export class DraftAlreadyExistsError extends Error {}

function rowOf(request: ChangeRequest) {
  const { id, uid, project, environment, title, state, minApprovals, createdBy, createdAt } = request;
  const { revision, stateTimestamps, reviewRequests, steps, applying, attempts } = request;
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
    reviewRequests,
    steps,
    applying,
    attempts,
  };
}

/** Schedules the difference between two states of a request for the next flush. */
function persistRequest(em: Tx['em'], before: ChangeRequest | undefined, after: ChangeRequest, importId?: string) {
  const request = after.id;
  const beginsAttempt =
    after.applying !== null && (after.applying !== before?.applying || after.attempts !== before.attempts);
  persistDifference(em, ChangeRequestEntity, { before: [before ?? []].flat(), after: [after] }, (one) => ({
    ...rowOf(one),
    ...(importId === undefined ? {} : { importId }),
    ...(one === after && beginsAttempt ? { applyingSince: raw('clock_timestamp()') } : {}),
    ...(one === after && one.applying === null ? { applyingSince: null } : {}),
  }));
  persistDifference(em, ChangeEntity, { before: before?.changes ?? [], after: after.changes }, (change) => ({
    ...change,
    request,
  }));
  const toReviewRow = ({ createdBy, createdAt }: Review) => ({
    request,
    createdById: createdBy.id,
    createdByName: createdBy.name,
    createdByUsername: createdBy.username,
    createdAt,
  });
  persistDifference(em, ApprovalEntity, { before: before?.approvals ?? [], after: after.approvals }, (one) => ({
    ...toReviewRow(one),
    basis: one.basis,
  }));
  persistDifference(em, RejectionEntity, { before: before?.rejections ?? [], after: after.rejections }, toReviewRow);
  persistDifference(em, CommentEntity, { before: before?.comments ?? [], after: after.comments }, (one) => ({
    ...one,
    request,
  }));
  const toApproverRows = ({ requestedApprovers = [] }: Partial<ChangeRequest> = {}) =>
    requestedApprovers.map((userId, position) => ({ request, userId, position }));
  const approvers = { before: toApproverRows(before), after: toApproverRows(after) };
  persistDifference(em, RequestedApproverEntity, approvers, (row) => row);
  // A new schedule is checked for conflicts once. A failed one is checked only after an edit of an object that its request affects.
  persistDifference(
    em,
    ScheduleEntity,
    { before: [before?.schedule ?? []].flat(), after: [after.schedule ?? []].flat() },
    (one) => ({
      ...one,
      request,
      ...(one === after.schedule ? { uncheckedEdits: one.status === 'pending' ? 1 : 0 } : {}),
    }),
  );
}

/** Requests within a unit of work. Storing a decision also emits its events. */
export function changeRequestRepository(tx: Tx, outbox: Pick<Outbox, 'emit'>) {
  const { query } = tx;
  const locked: ChangeRequest[] = [];
  /** by id: the requests that this unit of work has locked or stored, as they are stored now */
  const stored = new Map<number, ChangeRequest>();
  let written: ChangeRequest | undefined;
  let lockedAt: Date | undefined;
  const setWritten = (request: ChangeRequest): void => {
    stored.set(request.id, request);
    written = request;
  };
  const getOfAnyProjectForUpdate = async (id: number): Promise<ChangeRequest | undefined> => {
    // Two statements: the second one sees what was committed while the first one waited.
    await query('select from change_request where id = $1 for update', [id]);
    const [row] = await query<RequestRow & { nowMs: number }>(selectRequestAndNow, [id]);
    if (row === undefined) return undefined;
    locked.push(row.request);
    stored.set(id, row.request);
    lockedAt = new Date(row.nowMs);
    return row.request;
  };
  const nextId = async (sequence: string): Promise<number> =>
    onlyRow(await query<{ id: number }>('select nextval($1) as id', [sequence])).id;
  const add = async (importId: string | undefined, { request, events }: ChangeRequestDecision): Promise<void> => {
    try {
      persistRequest(tx.em, undefined, request, importId);
      await tx.em.flush();
    } catch (error) {
      throw violatedConstraint(error) === oneDraftIndex ? new DraftAlreadyExistsError() : error;
    }
    setWritten(request);
    outbox.emit(events);
  };

  return {
    /** The locked requests, as they were when they were locked. */
    locked: locked as readonly ChangeRequest[],
    /** The new state of the request that was written last; undefined once it was removed. */
    written: () => written,

    /**
     * Whether the user has a request that accepts changes; with `draftOnly` a draft. Locks out concurrent ones until the end of the
     * transaction.
     */
    lockAndCheckForAcceptingRequest: async (
      userId: number,
      { project, environment }: EnvironmentRef,
      { draftOnly }: { readonly draftOnly: boolean },
    ): Promise<boolean> => {
      const lock = JSON.stringify([userId, project, environment]);
      await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lock]);
      const text = `select from change_request request where ${acceptsChangesOfAuthorSql} limit 1`;
      return (await query(text, [userId, project, environment, draftOnly])).length > 0;
    },

    /** A new id, which users see, and a new uid, which stays unique even after a restored backup. */
    newIdentity: async (): Promise<Pick<ChangeRequest, 'id' | 'uid'>> => ({
      id: await nextId('change_request_id_seq'),
      uid: randomUUID(),
    }),

    newChangeIds: reserveChangeIdsBy(({ text }, values) => query(text, values)),
    newCommentId: () => nextId('comment_id_seq'),

    /** The time of this unit of work by the clock of the database, which all replicas share: when it locked a request. */
    now: (): Date => {
      if (lockedAt === undefined)
        throw new Error('The unit of work has locked no change request: load one with getVisible first.');
      return lockedAt;
    },

    /** Deletes a locked request. */
    remove: async ({ id }: ChangeRequest, events: ChangeRequestDecision['events']): Promise<void> => {
      written = undefined;
      stored.delete(id);
      await tx.em.nativeDelete(ChangeRequestEntity, { id });
      outbox.emit(events);
    },

    /** Stores how to undo a request that was applied. */
    saveInverse: async (id: number, inverse: readonly InverseChange[]): Promise<void> => {
      await tx.em.nativeUpdate(ChangeRequestEntity, { id }, { inverse });
    },

    /** How to undo an existing request; empty if it was not applied. */
    inverseOf: async (id: number): Promise<readonly InverseChange[]> => {
      const text = 'select inverse from change_request where id = $1';
      return onlyRow(await query<{ inverse: InverseChange[] | null }>(text, [id])).inverse ?? [];
    },

    /** The open requests that add any of these segments to strategies. */
    segmentUses: async (project: string, segments: readonly number[]): Promise<SegmentUse[]> =>
      segments.length === 0 ? [] : query(selectSegmentUses.text, [project, segments.map(String)]),

    /**
     * The request of an id, in any project, locked until the end of this unit of work; undefined if there is none. For background jobs, and to
     * lock a request that was found in its project before: `getVisible` compares the project.
     */
    getOfAnyProjectForUpdate,
    /**
     * The request of a path, locked likewise.
     * @throws Refusal `NotFoundError` if the project has no such request, or if it is a draft of another user.
     */
    getVisible: async ({ id, projectId }: RequestPath, userId: number): Promise<ChangeRequest> => {
      const request = await getOfAnyProjectForUpdate(id);
      return requireVisible(request?.project === projectId ? request : undefined, id, userId);
    },

    /** The id of the request created for an import. Locks out concurrent ones until the end of the transaction. */
    lockAndFindIdOfImport: async (importId: string): Promise<number | undefined> => {
      await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [importId]);
      const text = 'select id from change_request where import_id = $1';
      return (await query<{ id: number }>(text, [importId]))[0]?.id;
    },

    /**
     * Stores a new request. Waits for a concurrent insert by the same author in the same project and environment.
     * @throws DraftAlreadyExistsError if the author has another draft there.
     */
    add: (decision: ChangeRequestDecision): Promise<void> => add(undefined, decision),

    /** Stores the new request of an import, which `lockAndFindIdOfImport` finds from then on. Otherwise like `add`. */
    addForImport: (importId: string, decision: ChangeRequestDecision): Promise<void> => add(importId, decision),

    /** Stores the new state of a locked request. */
    save: async ({ request, events }: ChangeRequestDecision): Promise<void> => {
      const before = stored.get(request.id);
      if (before === undefined) throw new Error(`Change request ${request.id} is not locked: load it with getVisible.`);
      persistRequest(tx.em, before, request);
      await tx.em.flush();
      setWritten(request);
      outbox.emit(events);
    },

    /**
     * Stores new content of a draft that was read without a lock. Returns false and stores nothing if the draft was edited since, or is no
     * longer a draft. A draft has no approvals to remove, so one statement is enough.
     */
    saveDraft: async (
      { id, revision, changes }: ChangeRequest,
      { request: after, events }: ChangeRequestDecision,
    ): Promise<boolean> => {
      const unchanged = new Set(changes);
      const keptIds = new Set(after.changes.map((change) => change.id));
      const removedIds = changes.flatMap((change) => (keptIds.has(change.id) ? [] : change.id));
      const changedRows = changeRowsJson(after.changes.filter((change) => !unchanged.has(change)));
      const isStored = (await query(updateDraft, [id, revision, removedIds, changedRows])).length > 0;
      if (!isStored) return false;
      setWritten(after);
      outbox.emit(events);
      return true;
    },
  };
}
export type ChangeRequestRepository = ReturnType<typeof changeRequestRepository>;
