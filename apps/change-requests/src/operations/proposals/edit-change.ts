import { call, implement, onBehalfOf } from '@bunting/bus';
import { CheckChanges, EditChange } from '@bunting/contracts';
import { parseChange } from '@bunting/contracts/validation';
import type { ChangeRequest } from '../../domain/change-request.ts';
import { changeOf, editChange, requireAuthor, requireSameSubject } from '../../domain/content/edit-change.ts';
import { changedBySomeoneElse } from '../../domain/refusals.ts';
import { requireMayPropose } from '../../domain/review/may-propose.ts';
import { refusePrototypeKeys } from '../../domain/content/prototype-keys.ts';
import { toChangeRequestResponse } from '../../domain/change-request-response.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { actorOf } from '../actor.ts';
import { changeBody } from '../change-body.ts';
import { withPathsOfSingleChange } from '../with-paths-of-single-change.ts';
import { previewsOfOpen } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';

const maxTries = 5;

/** Replaces one change. As for new changes, the features service checks it first, and a concurrent edit causes a retry. */
export const editChangeEndpoint = ({ bus, reader, transaction }: ChangeRequestsContext) =>
  implement(EditChange, async (operationRequest) => {
    const { params, body, caller } = operationRequest;
    requireMayPropose(caller, params.projectId);
    refusePrototypeKeys(body, '/body');
    const change = parseChange(body, '/body');

    const replyOf = async (request: ChangeRequest) => {
      const previewedChangesOf = await previewsOfOpen(
        { bus, reader },
        request.project,
        [request],
        onBehalfOf(operationRequest),
      );
      return toChangeRequestResponse(request, previewedChangesOf(request));
    };

    const tryOnce = async () => {
      const base = await reader.visible(params, caller.id);
      requireAuthor(base, caller.id);
      const replaced = changeOf(base, params.changeId);
      requireSameSubject(replaced, change);
      const earlier = base.changes.filter((other) => other !== replaced).map(changeBody);
      const { project, environment } = base;
      const ask = { body: { project, environment, changes: [change], earlier } };
      const { changes } = await call(bus, CheckChanges, ask, onBehalfOf(operationRequest)).catch((error: unknown) => {
        throw withPathsOfSingleChange(error);
      });
      const [checked] = changes;
      if (checked === undefined)
        throw new Error(
          `The features service returned no result for change ${params.changeId} of change request ${params.id}.`,
        );
      const edit = async ({ requests, events }: Transaction): Promise<ChangeRequest | undefined> => {
        const before = await requests.getVisible(params, caller.id);
        if (before.revision !== base.revision) return undefined;
        const decision = editChange(before, params.changeId, checked, actorOf(operationRequest));
        await requests.save(before, decision.request);
        events.emit(decision.events);
        return decision.request;
      };
      return transaction.commitThenReply(operationRequest, edit, replyOf);
    };

    const done = await transaction.replay(operationRequest, replyOf);
    if (done !== undefined) return done;

    for (let tries = 0; tries < maxTries; tries++) {
      const reply = await tryOnce();
      if (reply !== undefined) return reply;
    }
    throw changedBySomeoneElse();
  });
