import { call, implement, onBehalfOf } from '@bunting/bus';
import { CheckChanges, EditChange, requireMayPropose } from '@bunting/contracts';
import { parseChange } from '@bunting/contracts/validation';
import type { ChangeRequest } from '../../domain/change-request.ts';
import { changeOf, editChange, requireAuthor, requireSameSubject } from '../../domain/content/edit-change.ts';
import { changedBySomeoneElse } from '../../domain/refusals.ts';
import { refusePrototypeKeys } from '../../domain/content/prototype-keys.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { changeBody } from '../previews/change-body.ts';
import { responseWithPreview } from '../previews/responses.ts';
import { withPathsOfSingleChange } from './with-paths-of-single-change.ts';

const maxTries = 5;

/** Replaces one change. As for new changes, the features service checks it first, and a concurrent edit causes a retry. */
export const editChangeEndpoint = ({ bus, reader, transaction }: ChangeRequestsContext) =>
  implement(EditChange, async (operationRequest) => {
    const { params, body, caller } = operationRequest;
    requireMayPropose(caller, params.projectId);
    refusePrototypeKeys(body, '/body');
    const change = parseChange(body, '/body');
    const replyOf = (request: ChangeRequest) =>
      responseWithPreview({ bus, reader }, request, onBehalfOf(operationRequest));

    /** Returns undefined and writes nothing if the request was edited since the check. */
    const editUnlessOutdated = async () => {
      const base = await reader.visible(params, caller.id);
      requireAuthor(base, caller.id);
      const replaced = changeOf(base, params.changeId);
      requireSameSubject(replaced, change);
      const earlier = base.changes.filter((other) => other !== replaced).map(changeBody);
      const checkRequest = {
        body: { project: base.project, environment: base.environment, changes: [change], earlier },
      };
      const { changes } = await call(bus, CheckChanges, checkRequest, onBehalfOf(operationRequest)).catch(
        (error: unknown) => {
          throw withPathsOfSingleChange(error);
        },
      );
      const [checked] = changes;
      if (checked === undefined)
        throw new Error(
          `The features service returned no result for change ${params.changeId} of change request ${params.id}.`,
        );
      const edit = async ({ requests }: Transaction): Promise<ChangeRequest | undefined> => {
        const before = await requests.getVisible(params, caller.id);
        if (before.revision !== base.revision) return undefined;
        const decision = editChange(before, params.changeId, checked, actorOf(caller, requests.now()));
        await requests.save(decision);
        return decision.request;
      };
      return transaction.commitThenReply(operationRequest, edit, replyOf);
    };

    const replayed = await transaction.replay(operationRequest, replyOf);
    if (replayed !== undefined) return replayed;
    for (let tries = 0; tries < maxTries; tries++) {
      const reply = await editUnlessOutdated();
      if (reply !== undefined) return reply;
    }
    throw changedBySomeoneElse();
  });
