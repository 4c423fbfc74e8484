import {
  type Bus,
  type CallContext,
  type Endpoint,
  implement,
  JsonText,
  onBehalfOf,
  type OperationRequest,
} from '@bunting/bus';
import {
  type AppliedChanges,
  ApplyChanges,
  ChangeState,
  isFinalRefusal,
  type ReplyOf,
  requireMayPropose,
} from '@bunting/contracts';
import { encryptReply } from '@bunting/outbox';
import { call } from '../calls.ts';
import type { ChangeRequestsContext } from '../endpoints.ts';
import { conflictRefusal, conflictsInPreview, segmentConflicts, segmentsToDelete } from '../previews/conflicts.ts';
import { loadBases, loadPreview } from '../previews/endpoints.ts';
import { toWireChangeWithSnapshot } from '../proposals/proposed-change.ts';
import {
  actorOf,
  approvalsLost,
  basisInConflict,
  effectChanged,
  type ChangeRequest,
  etagHeaderOf,
  type NewComment,
  transitionNotAllowed,
  withoutEvents,
} from '../requests/change-request.ts';
import { requireProject } from '../requests/endpoints.ts';
import type { ChangeRequestReader } from '../requests/request-read-store.ts';
import type { ChangeRequestRepository } from '../requests/request-store.ts';
import { judgeRequest, type ReviewFacts, withCountingApprovals } from '../reviews/approvals.ts';
import { judgeLocked, loadReviewFacts, type RecheckApprovals } from '../reviews/endpoints.ts';
import type { Transaction, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import {
  beginApplyAttempt,
  finishApplyAttempt,
  isStartedByThisWrite,
  requireApplyAttempt,
  requireSegmentPermissions,
  segmentPermissionsOf,
} from './apply-attempt.ts';
import {
  executeCommand,
  type ImmediateCommand,
  parseScheduledAt,
  requireFuture,
  requireTransition,
} from './commands.ts';
import { commandFor, type CommandName } from './state-machine.ts';

export function stateEndpoints({
  bus,
  reader,
  transaction,
  rolesOf,
  apply,
  recheckApprovals,
}: ChangeRequestsContext): readonly Endpoint[] {
  const actorFor = (
    { caller }: ChangeStateRequest,
    { project, environment, createdBy }: ChangeRequest,
    now: Date,
    affectedEnvironments: readonly string[] = [],
  ) => ({
    ...actorOf(caller, now),
    roles: rolesOf(caller, { project, environment, createdBy, affectedEnvironments }),
  });

  /**
   * The request with what decides about its approvals. Approvals that do not count any more are taken back first, in a transaction of their own, so
   * that this is stored although the command is refused.
   */
  const loadJudged = async (operationRequest: ChangeStateRequest, command: CommandName): Promise<JudgedRequest> => {
    const { params, caller } = operationRequest;
    const context = onBehalfOf(operationRequest);
    const request = await reader.getVisible(params, caller.id);
    const [found, bases] = await Promise.all([
      loadReviewFacts(bus, params.projectId, [request], context),
      loadBases(bus, params.projectId, [request], context),
    ]);
    const facts = { ...found, bases };
    if (!(await recheckApprovals(params.projectId, [request], context, facts))) return { request, facts };
    const after = await reader.getVisible(params, caller.id);
    if (command !== 'approve' && after.state === 'In review' && request.state !== 'In review') throw approvalsLost();
    return { request: after, facts };
  };

  /**
   * Executes a command in one transaction. It is undefined for a state that no command leads to.
   * @param facts of commands that need approvals
   */
  const execute = (
    operationRequest: ChangeStateRequest,
    command: ImmediateCommand | undefined,
    { facts, revision = operationRequest.body.revision }: { facts?: ReviewFacts; revision?: number | undefined } = {},
  ) =>
    transaction(operationRequest, async (tx) => {
      const { requests } = tx;
      const before = await requests.getVisible(operationRequest.params, operationRequest.caller.id);
      if (command === undefined) throw transitionNotAllowed(operationRequest.body.state, before);
      const judgement = facts && (await judgeLocked(tx, before, facts, rolesOf));
      const input = {
        comment: await newComment(tx, operationRequest),
        revision,
        minApprovals: judgement?.minApprovals,
      };
      const actor = actorFor(operationRequest, before, requests.now(), judgement?.affectedEnvironments);
      const counting = judgement === undefined ? before : withCountingApprovals(before, judgement);
      const decision = executeCommand(counting, command, actor, input);
      const scheduledAt = command.name === 'schedule' ? command.schedule.scheduledAt : undefined;
      if (scheduledAt !== undefined) requireFuture(scheduledAt, requests.now());
      await requests.save(decision);
      return replyTo(operationRequest, scheduledAt);
    });

  /** Schedules the request with the state that it would replace as of now. Refuses a request with conflicts. */
  const schedule = async (operationRequest: ChangeStateRequest) => {
    const { params, body } = operationRequest;
    const scheduledAt = parseScheduledAt(body.scheduledAt);
    const { request, facts } = await loadJudged(operationRequest, 'schedule');
    const protections = await reader.protectedEnvironments(params.projectId);
    const judgement = judgeRequest(request, protections, facts, rolesOf);
    const actor = actorFor(operationRequest, request, operationRequest.now, judgement.affectedEnvironments);
    requireTransition(withCountingApprovals(request, judgement), 'schedule', actor, judgement.minApprovals);
    requireSegmentPermissions(request, operationRequest.caller);
    const previewed = await loadPreview({ bus, reader }, request, { withStates: true }, onBehalfOf(operationRequest));
    const conflicts = conflictsInPreview(previewed.preview);
    if (conflicts.length > 0) throw conflictRefusal(conflicts);
    const snapshots = Object.fromEntries(previewed.snapshots.map(({ id, snapshot }) => [id, snapshot]));
    const command = { name: 'schedule', schedule: { scheduledAt, snapshots } } as const;
    return execute(operationRequest, command, { facts, revision: body.revision ?? request.revision });
  };

  /** Marks the request as being applied, then calls the features service. */
  const applyNow = async (operationRequest: ChangeStateRequest): Promise<StateReply | JsonText> => {
    const { params, body, caller, idempotency, traceparent, deadline, signal } = operationRequest;
    const reply = replyTo(operationRequest);
    const { facts } = await loadJudged(operationRequest, 'apply');
    const begin = async (tx: Transaction): Promise<BegunAttempt> => {
      const before = await tx.requests.getVisible(params, caller.id);
      const pendingReply = idempotency === undefined ? undefined : encryptReply(idempotency, reply);
      // A retry while the outcome is unknown continues the same attempt.
      if (isStartedByThisWrite(before, pendingReply)) return { request: before, isRetry: true };
      const comment = await newComment(tx, operationRequest);
      const judgement = await judgeLocked(tx, before, facts, rolesOf);
      const { minApprovals, affectedEnvironments: authorisedEnvironments } = judgement;
      const input = {
        comment,
        revision: body.revision,
        displayName: caller.displayName,
        pendingReply,
        minApprovals,
        authorisedEnvironments,
        segmentPermissions: segmentPermissionsOf(caller),
      };
      const actor = actorFor(operationRequest, before, tx.requests.now(), authorisedEnvironments);
      const request = beginApplyAttempt(withCountingApprovals(before, judgement), 'apply', actor, input);
      requireSegmentPermissions(before, caller);
      const inUse = await loadSegmentConflicts(tx.requests, before);
      if (inUse.length > 0) throw conflictRefusal(inUse);
      tx.requireIfMatch(operationRequest);
      await tx.requests.save(withoutEvents(request));
      return { request, isRetry: false };
    };
    const begun = await transaction({ traceparent, deadline, signal }, begin).catch(async (error: unknown) => {
      // The first request may have been applied since this retry looked for its stored reply.
      const replayed = await transaction.replay(operationRequest);
      if (replayed === undefined) throw error;
      return replayed;
    });
    if (begun instanceof JsonText) return begun;
    const { outcome, conflicts, tag } = await apply(begun.request, onBehalfOf(operationRequest));
    if (outcome !== 'applied') throw conflictRefusal(conflicts);
    // Whichever process stored the outcome has stored the reply with its headers.
    const stored = begun.isRetry || tag === undefined ? await transaction.replay(operationRequest) : undefined;
    if (stored !== undefined) return stored;
    if (tag !== undefined) operationRequest.setHeader('ETag', tag);
    return reply;
  };

  return [
    implement(ChangeState, async (operationRequest) => {
      const { params, body, caller } = operationRequest;
      const replayed = await transaction.replay(operationRequest);
      if (replayed !== undefined) return replayed;
      await requireProject(bus, operationRequest);
      const command = commandFor[body.state];
      if (command === 'apply') return applyNow(operationRequest);
      if (command === 'schedule') return schedule(operationRequest);
      if (command === 'approve') {
        const { request, facts } = await loadJudged(operationRequest, command);
        const basis = facts.bases?.get(request.id);
        if (body.basis !== undefined && basis !== undefined && body.basis !== basis) throw effectChanged();
        // The basis is that of the content that was read.
        const revision = body.revision ?? request.revision;
        const approve = { name: command, basis: basis === null ? basisInConflict : (basis ?? null) } as const;
        return execute(operationRequest, approve, { facts, revision });
      }
      if (command === 'send to review') requireMayPropose(caller, params.projectId);
      return execute(operationRequest, command === undefined ? undefined : { name: command });
    }),
  ];
}

/**
 * Applies a request after `beginApplyAttempt`, and stores the outcome. Any replica may repeat it at any time: the features service applies a
 * request once, and returns one result per attempt. A call that is refused ends the attempt. After an outage or a defect the request stays in
 * progress until a replica repeats the call.
 */
export type Apply = (begun: ChangeRequest, context: CallContext) => Promise<ApplyResult>;

interface ApplyResult extends AppliedChanges {
  /** the entity tag of the request afterwards; undefined when another process has stored the outcome */
  readonly tag: string | undefined;
}

interface ApplyOptions {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
  readonly transaction: UnitOfWork;
  readonly recheckApprovals: RecheckApprovals;
}

export function applyRequest({ bus, reader, transaction, recheckApprovals }: ApplyOptions): Apply {
  return async (begun, context) => {
    const { id, uid, project, environment, changes, approvals, attempts, schedule } = begun;
    const { by, displayName, scheduled, authorisedEnvironments, segmentPermissions } = requireApplyAttempt(begun);
    const caller = {
      id: by.id,
      name: by.name,
      ...(displayName === undefined ? {} : { displayName }),
      ...(typeof by.username === 'string' ? { username: by.username } : {}),
      grants: [],
    };
    const body = {
      changeRequestId: id,
      ...(uid === null ? {} : { uid }),
      attempt: attempts,
      project,
      environment,
      ...(authorisedEnvironments === undefined ? {} : { authorisedEnvironments: [...authorisedEnvironments] }),
      ...(segmentPermissions === undefined ? {} : { segmentPermissions: [...segmentPermissions] }),
      approvedBases: [...new Set(approvals.flatMap(({ basis }) => basis ?? []))],
      changes: changes.map((change) => toWireChangeWithSnapshot(change, schedule?.snapshots)),
      refuseOverwrites: scheduled,
    };
    const result = await call(bus, ApplyChanges, { body }, { ...context, caller }).catch(
      (error: unknown): AppliedChanges => {
        if (!isFinalRefusal(error)) throw error;
        return { outcome: 'conflict', conflicts: [{ code: 'refused', message: error.message }], inverse: [] };
      },
    );
    // Without the limits of the caller: the features service has applied the changes, or refused them.
    const storedTag = await transaction({ traceparent: context.traceparent }, async ({ requests, storeReply }) => {
      const request = await requests.getOfAnyProjectForUpdate(id);
      // Another process has finished the attempt in the meantime.
      if (request === undefined || request.applying === null || request.attempts !== attempts) return undefined;
      const decision = finishApplyAttempt(request, result, requests.now());
      await requests.save(decision);
      const tag = etagHeaderOf(decision.request);
      if (result.outcome === 'applied') {
        await requests.saveInverse(id, result.inverse);
        const { pendingReply } = request.applying;
        if (pendingReply !== undefined) await storeReply(pendingReply, { ETag: tag });
      }
      return tag;
    });
    // After the attempt began, an environment was protected or connected, or what the changes begin to use was edited.
    if (result.conflicts.some(({ code }) => code === 'approvals-missing')) {
      const request = await reader.byId(id);
      if (request !== undefined) {
        const [facts, bases] = await Promise.all([
          loadReviewFacts(bus, project, [request], context),
          loadBases(bus, project, [request], context),
        ]);
        await recheckApprovals(project, [request], context, { ...facts, bases });
      }
    }
    return { ...result, tag: storedTag };
  };
}

/** The conflicts of segments that the request would delete although another open request adds them to a strategy. */
export async function loadSegmentConflicts(
  requests: Pick<ChangeRequestRepository, 'segmentUses'>,
  request: ChangeRequest,
): Promise<AppliedChanges['conflicts']> {
  return segmentConflicts(request, await requests.segmentUses(request.project, segmentsToDelete(request.changes)));
}

type ChangeStateRequest = OperationRequest<typeof ChangeState>;
type StateReply = ReplyOf<typeof ChangeState>;

/** A request that is being applied, and whether this write is a retry of the one that began the attempt. */
interface BegunAttempt {
  readonly request: ChangeRequest;
  readonly isRetry: boolean;
}

/** A request, and what decides about its approvals. */
interface JudgedRequest {
  readonly request: ChangeRequest;
  readonly facts: ReviewFacts;
}

/** The comment of the user; empty for none. */
function commentIn({ body }: ChangeStateRequest): string {
  return body.comment?.trim() ?? '';
}

async function newComment(
  { requests }: Transaction,
  operationRequest: ChangeStateRequest,
): Promise<NewComment | undefined> {
  const text = commentIn(operationRequest);
  return text === '' ? undefined : { id: await requests.newCommentId(), text };
}

function replyTo(operationRequest: ChangeStateRequest, scheduledAt?: string): StateReply {
  const { params, body } = operationRequest;
  const comment = commentIn(operationRequest);
  return {
    id: params.id,
    state: body.state,
    ...(comment === '' ? {} : { comment }),
    ...(scheduledAt === undefined ? {} : { scheduledAt }),
  };
}
