import { type OperationRequest, implement, onBehalfOf } from '@bunting/bus';
import { type AppliedChanges, ChangeState, invalid, refusal, type Refusal } from '@bunting/contracts';
import type { ChangeRequest } from '../../domain/change-request.ts';
import { requireMayPropose } from '../../domain/may-propose.ts';
import {
  beginApplying,
  isPromised,
  move,
  type Particulars,
  requireTransition,
  requireVisible,
} from '../../domain/move.ts';
import { commandFor } from '../../domain/state-machine.ts';
import type { WorkContext } from '../../persistence/unit-of-work.ts';
import { actorOf } from '../actor.ts';
import { type Preview, previewsOf } from '../previews.ts';
import { segmentsInUse } from '../segments-in-use.ts';
import type { ChangeRequestsContext } from '../context.ts';

type Asking = OperationRequest<typeof ChangeState>;
type Conflicts = AppliedChanges['conflicts'];

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

/** The moment that is asked for, as the API writes it. */
const momentOf = ({ body }: Asking): string => {
  const path = '/body/scheduledAt';
  if (body.scheduledAt === undefined) {
    throw invalid(`The \`${path}\` property is required. It was not present on the data you sent.`, path);
  }
  const moment = new Date(body.scheduledAt);
  if (Number.isNaN(moment.getTime())) throw invalid(`The \`${path}\` property must be a moment that there is.`, path);
  return moment.toISOString();
};

const requireFuture = async ({ requests }: WorkContext, scheduledAt: string): Promise<void> => {
  if (Date.parse(scheduledAt) > (await requests.now()).getTime()) return;
  const path = '/body/scheduledAt';
  throw invalid(`The \`${path}\` property must be in the future. You provided "${scheduledAt}".`, path);
};

/** Moves a request along the table of states. Applying and scheduling ask the service that knows what changes mean. */
export const changeStateEndpoint = ({ bus, reader, work, rolesOf, apply }: ChangeRequestsContext) => {
  /** What the request would replace now; refuses one that could not be applied. */
  const looked = async (asked: Asking) => {
    const { params, caller } = asked;
    const request = requireVisible(await reader.one(params.id, params.projectId), params.id, caller.id);
    requireTransition(request, 'schedule', { ...actorOf(asked), roles: rolesOf(caller, request) });
    const previews = await previewsOf({ bus, reader }, request.project, [request], true, onBehalfOf(asked));
    const found = previews.get(request.id);
    if (found === undefined) throw new Error('A request that was asked about has an answer.');
    const conflicts = conflictsIn(found.preview);
    if (conflicts.length > 0) throw blocked(conflicts);
    const snapshots = Object.fromEntries(found.snapshots.map(({ id, snapshot }) => [id, snapshot]));
    return { revision: request.revision, snapshots };
  };

  const particularsOf = async (request: Asking): Promise<Particulars> => {
    const { body } = request;
    if (body.state !== 'Scheduled') return { revision: body.revision };
    const scheduledAt = momentOf(request);
    const { revision, snapshots } = await looked(request);
    return { revision: body.revision ?? revision, schedule: { scheduledAt, snapshots } };
  };

  return implement(ChangeState, async (asked) => {
    const { params, body, caller, idempotency } = asked;
    const done = await work.replay(asked);
    if (done !== undefined) return done;
    const command = commandFor[body.state];
    if (command === 'send to review') requireMayPropose(caller, params.projectId);
    const more = await particularsOf(asked);
    const text = body.comment?.trim() ?? '';
    const scheduled = more.schedule === undefined ? {} : { scheduledAt: more.schedule.scheduledAt };
    const reply = { id: params.id, state: body.state, ...(text === '' ? {} : { comment: text }), ...scheduled };

    const commanded = async ({ requests }: WorkContext) => {
      const before = requireVisible(await requests.getInProject(params.id, params.projectId), params.id, caller.id);
      if (command === undefined) {
        throw refusal('ConflictError', `Change request cannot go from "${before.state}" to "${body.state}"`);
      }
      const comment = async () => (text === '' ? undefined : { id: await requests.newCommentId(), text });
      return { before, command, comment, asker: { ...actorOf(asked), roles: rolesOf(caller, before) } };
    };

    if (command === 'apply') {
      const begin = async (tx: WorkContext): Promise<ChangeRequest> => {
        const { before, comment, asker } = await commanded(tx);
        // Sent again while it is not known yet what became of it: it is carried on.
        if (isPromised(before, idempotency)) return before;
        const promised = idempotency === undefined ? undefined : { once: idempotency, reply: JSON.stringify(reply) };
        const request = beginApplying(before, 'apply', asker, { ...more, comment: await comment(), promised });
        const inUse = await segmentsInUse(tx.requests, before);
        if (inUse.length > 0) throw blocked(inUse);
        tx.requireMatch(asked);
        await tx.requests.save(before, request);
        return request;
      };
      const begun = await work(asked.traceparent, begin, asked);
      const { outcome, conflicts, tag } = await apply(begun, onBehalfOf(asked));
      if (outcome !== 'applied') throw blocked(conflicts);
      if (tag !== undefined) asked.setHeader('ETag', tag);
      return reply;
    }
    return work(asked, async (tx) => {
      const { before, command: way, comment, asker } = await commanded(tx);
      const { request, events } = move(before, way, asker, { ...more, comment: await comment() });
      if (more.schedule !== undefined) await requireFuture(tx, more.schedule.scheduledAt);
      if (request !== null) await tx.requests.save(before, request);
      for (const event of events) tx.outbox.event(event);
      return reply;
    });
  });
};
