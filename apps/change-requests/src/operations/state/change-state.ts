import { type OperationRequest, implement, onBehalfOf } from '@bunting/bus';
import { type AppliedChanges, ChangeState, invalid, refusal, type Refusal, type ReplyOf } from '@bunting/contracts';
import { encryptReply } from '@bunting/outbox';
import type { ChangeRequest } from '../../domain/change-request.ts';
import { requireMayPropose } from '../../domain/review/may-propose.ts';
import {
  beginApplying,
  isStartedByThisWrite,
  executeCommand,
  type CommandOptions,
  requireTransition,
  requireVisible,
} from '../../domain/review/execute-command.ts';
import { commandFor } from '../../domain/review/state-machine.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { actorOf } from '../actor.ts';
import { type Preview, previewOf } from '../previews.ts';
import { segmentConflictsOf } from '../segment-conflicts.ts';
import type { ChangeRequestsContext } from '../context.ts';

type ChangeStateRequest = OperationRequest<typeof ChangeState>;
type StateReply = ReplyOf<typeof ChangeState>;
type Conflicts = AppliedChanges['conflicts'];

interface StateChange {
  readonly operationRequest: ChangeStateRequest;
  readonly options: CommandOptions;
  /** the comment of the user; empty for none */
  readonly text: string;
  readonly reply: StateReply;
}

const blocked = (conflicts: Conflicts): Refusal =>
  refusal('ConflictError', conflicts[0]?.message ?? 'Change request is in conflict', {
    details: conflicts.map(({ code, message, feature, segment, changeId }) => ({
      message,
      code,
      ...(feature === undefined ? {} : { feature }),
      ...(segment === undefined ? {} : { segment }),
      ...(changeId === undefined ? {} : { changeId }),
    })),
  });

const conflictsIn = ({ features, segments }: Preview['preview']): Conflicts => [
  ...features.flatMap(({ name: feature, conflict, conflictCode = '', changes }) => [
    ...(conflict === undefined ? [] : [{ code: conflictCode, message: conflict, feature }]),
    ...changes.flatMap(({ id: changeId, conflict: message, conflictCode: code = '' }) =>
      message === undefined ? [] : [{ code, message, feature, changeId }],
    ),
  ]),
  ...segments.flatMap(({ id: segment, changes }) =>
    changes.flatMap(({ id: changeId, conflict: message, conflictCode: code = '' }) =>
      message === undefined ? [] : [{ code, message, segment, changeId }],
    ),
  ),
];

/** The requested time of a schedule, in ISO 8601. */
const scheduledAtOf = ({ body }: ChangeStateRequest): string => {
  const path = '/body/scheduledAt';
  if (body.scheduledAt === undefined) {
    throw invalid(`The \`${path}\` property is required. It was not present on the data you sent.`, path);
  }
  const scheduledAt = new Date(body.scheduledAt);
  if (Number.isNaN(scheduledAt.getTime()))
    throw invalid(`The \`${path}\` property must be a date and time that exists.`, path);
  return scheduledAt.toISOString();
};

const requireFuture = async ({ requests }: Transaction, scheduledAt: string): Promise<void> => {
  if (Date.parse(scheduledAt) > (await requests.now()).getTime()) return;
  const path = '/body/scheduledAt';
  throw invalid(`The \`${path}\` property must be in the future. You provided "${scheduledAt}".`, path);
};

/** Changes the state of a request according to the transition table. Applying and scheduling call the features service. */
export const changeStateEndpoint = ({ bus, reader, transaction, rolesOf, apply }: ChangeRequestsContext) => {
  /** The snapshots and revision to store with a schedule. Refuses a request with conflicts. */
  const previewForSchedule = async (operationRequest: ChangeStateRequest) => {
    const { params, caller } = operationRequest;
    const request = requireVisible(await reader.one(params.id, params.projectId), params.id, caller.id);
    requireTransition(request, 'schedule', { ...actorOf(operationRequest), roles: rolesOf(caller, request) });
    const found = await previewOf({ bus, reader }, request, true, onBehalfOf(operationRequest));
    const conflicts = conflictsIn(found.preview);
    if (conflicts.length > 0) throw blocked(conflicts);
    const snapshots = Object.fromEntries(found.snapshots.map(({ id, snapshot }) => [id, snapshot]));
    return { revision: request.revision, snapshots };
  };

  const commandOptionsOf = async (request: ChangeStateRequest): Promise<CommandOptions> => {
    const { body } = request;
    if (body.state !== 'Scheduled') return { revision: body.revision };
    const scheduledAt = scheduledAtOf(request);
    const { revision, snapshots } = await previewForSchedule(request);
    return { revision: body.revision ?? revision, schedule: { scheduledAt, snapshots } };
  };

  const loadForCommand = async ({ requests }: Transaction, { operationRequest, text }: StateChange) => {
    const { params, body, caller } = operationRequest;
    const before = requireVisible(await requests.getInProject(params.id, params.projectId), params.id, caller.id);
    const command = commandFor[body.state];
    if (command === undefined) {
      throw refusal('ConflictError', `Change request cannot go from "${before.state}" to "${body.state}"`);
    }
    const comment = async () => (text === '' ? undefined : { id: await requests.newCommentId(), text });
    return { before, command, comment, actor: { ...actorOf(operationRequest), roles: rolesOf(caller, before) } };
  };

  /** Applies the request: marks it as being applied, then calls the features service. */
  const applyNow = async (change: StateChange): Promise<StateReply> => {
    const { operationRequest, options, reply } = change;
    const { caller, idempotency } = operationRequest;
    const begin = async (tx: Transaction): Promise<ChangeRequest> => {
      const { before, comment, actor } = await loadForCommand(tx, change);
      const pendingReply = idempotency === undefined ? undefined : encryptReply(idempotency, reply);
      // A retry while the outcome is unknown continues the same attempt.
      if (isStartedByThisWrite(before, pendingReply)) return before;
      const { displayName } = caller;
      const applyOptions = { ...options, displayName, comment: await comment(), pendingReply };
      const request = beginApplying(before, 'apply', actor, applyOptions);
      const inUse = await segmentConflictsOf(tx.requests, before);
      if (inUse.length > 0) throw blocked(inUse);
      tx.requireMatch(operationRequest);
      await tx.requests.save(before, request);
      return request;
    };
    const begun = await transaction(operationRequest.traceparent, begin, operationRequest);
    const { outcome, conflicts, tag } = await apply(begun, onBehalfOf(operationRequest));
    if (outcome !== 'applied') throw blocked(conflicts);
    if (tag !== undefined) operationRequest.setHeader('ETag', tag);
    return reply;
  };

  /** Changes the state in one transaction. */
  const changeInOneTransaction = (change: StateChange) =>
    transaction(change.operationRequest, async (tx) => {
      const { options, reply } = change;
      const { before, command, comment, actor } = await loadForCommand(tx, change);
      const decision = executeCommand(before, command, actor, { ...options, comment: await comment() });
      if (options.schedule !== undefined) await requireFuture(tx, options.schedule.scheduledAt);
      if (decision.request !== null) await tx.requests.save(before, decision.request);
      tx.events.emit(decision.events);
      return reply;
    });

  return implement(ChangeState, async (operationRequest) => {
    const { params, body, caller } = operationRequest;
    const done = await transaction.replay(operationRequest);
    if (done !== undefined) return done;
    const command = commandFor[body.state];
    if (command === 'send to review') requireMayPropose(caller, params.projectId);
    const options = await commandOptionsOf(operationRequest);
    const text = body.comment?.trim() ?? '';
    const scheduled = options.schedule === undefined ? {} : { scheduledAt: options.schedule.scheduledAt };
    const reply = { id: params.id, state: body.state, ...(text === '' ? {} : { comment: text }), ...scheduled };
    const change = { operationRequest, options, text, reply };
    return command === 'apply' ? applyNow(change) : changeInOneTransaction(change);
  });
};
