import { implement, onBehalfOf } from '@bunting/bus';
import { EditChange } from '@bunting/contracts';
import { parseChange } from '@bunting/contracts/validation';
import type { ChangeRequest } from '../../requests/change-request.ts';
import { requireChange, editChange, requireAuthor, requireSameSubject } from '../../domain/content/edit-change.ts';
import { refusePrototypeKeys } from '../../domain/content/refuse-prototype-keys.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { responseWithPreview } from '../previews/responses-with-previews.ts';
import { checkProposedChanges } from './check-proposed-changes.ts';
import { retryUntilCurrent } from './retry-until-current.ts';

/** Replaces one change. As for new changes, the features service checks it first, and a concurrent edit causes a retry. */
export const editChangeEndpoint = ({ bus, reader, transaction }: ChangeRequestsContext) =>
  implement(EditChange, async (operationRequest) => {
    const { params, body, caller } = operationRequest;
    refusePrototypeKeys(body, '/body');
    const change = parseChange(body, '/body');
    const replyOf = (request: ChangeRequest) =>
      responseWithPreview({ bus, reader }, request, onBehalfOf(operationRequest));

    /** Returns undefined and writes nothing if the request was edited since the check. */
    const editIfCurrent = async () => {
      const base = await reader.getVisible(params, caller.id);
      requireAuthor(base, caller.id);
      const replaced = requireChange(base, params.changeId);
      requireSameSubject(replaced, change);
      const unchecked = { changes: [change], earlier: base.changes, replaced, isList: false };
      const [checked] = await checkProposedChanges(bus, base, unchecked, onBehalfOf(operationRequest));
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

    return retryUntilCurrent(
      async () => (await transaction.replay(operationRequest, replyOf)) ?? (await editIfCurrent()),
    );
  });
