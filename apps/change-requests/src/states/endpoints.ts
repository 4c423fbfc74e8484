import { JsonText, type OperationRequest, implement, onBehalfOf } from '@bunting/bus';
import { ChangeState, type ReplyOf, requireMayPropose } from '@bunting/contracts';
import { encryptReply } from '@bunting/outbox';
import { type ChangeRequest, withoutEvents } from '../requests/change-request.ts';
import { judgeRequest, type ReviewFacts, withCountingApprovals } from '../domain/review/judge-request.ts';
import { approvalsLost, transitionNotAllowed } from '../domain/refusals.ts';
import { conflictsInPreview, conflictRefusal } from '../domain/transitions/conflicts-in-preview.ts';
import { beginApplyAttempt, isStartedByThisWrite } from './apply-attempt.ts';
import { type ImmediateCommand, executeCommand } from './commands.ts';
import { requireTransition } from '../domain/transitions/require-transition.ts';
import { parseScheduledAt, requireFuture } from '../domain/transitions/scheduled-time.ts';
import { commandFor, type CommandName } from './state-machine.ts';
import type { NewComment } from '../domain/title-and-comments.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { actorOf } from '../operations/actor.ts';
import { loadPreview } from '../previews/endpoints.ts';
import { loadReviewFacts } from '../operations/reviews/load-review-facts.ts';
import { judgeLocked } from '../reviews/endpoints.ts';
import { loadSegmentConflicts } from '../operations/state/load-segment-conflicts.ts';
import type { ChangeRequestsContext } from '../operations/context.ts';
import { requireProject } from '../operations/require-project.ts';

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
const commentIn = ({ body }: ChangeStateRequest): string => body.comment?.trim() ?? '';

const newComment = async (
  { requests }: Transaction,
  operationRequest: ChangeStateRequest,
): Promise<NewComment | undefined> => {
  const text = commentIn(operationRequest);
  return text === '' ? undefined : { id: await requests.newCommentId(), text };
};

const replyTo = (operationRequest: ChangeStateRequest, scheduledAt?: string): StateReply => {
  const { params, body } = operationRequest;
  const comment = commentIn(operationRequest);
  return {
    id: params.id,
    state: body.state,
    ...(comment === '' ? {} : { comment }),
    ...(scheduledAt === undefined ? {} : { scheduledAt }),
  };
};

/** Changes the state of a request according to the transition table. Applying and scheduling call the features service. */
export const changeStateEndpoint = (dependencies: ChangeRequestsContext) => {
  const { bus, reader, transaction, rolesOf, apply, recheckApprovals } = dependencies;
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
    const facts = await loadReviewFacts(bus, params.projectId, [request], context);
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
      };
      const actor = actorFor(operationRequest, before, tx.requests.now(), authorisedEnvironments);
      const request = beginApplyAttempt(withCountingApprovals(before, judgement), 'apply', actor, input);
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

  return implement(ChangeState, async (operationRequest) => {
    const { params, body, caller } = operationRequest;
    const replayed = await transaction.replay(operationRequest);
    if (replayed !== undefined) return replayed;
    await requireProject(bus, operationRequest);
    const command = commandFor[body.state];
    if (command === 'apply') return applyNow(operationRequest);
    if (command === 'schedule') return schedule(operationRequest);
    if (command === 'approve') {
      const { facts } = await loadJudged(operationRequest, command);
      return execute(operationRequest, { name: command }, { facts });
    }
    if (command === 'send to review') requireMayPropose(caller, params.projectId);
    return execute(operationRequest, command === undefined ? undefined : { name: command });
  });
};
