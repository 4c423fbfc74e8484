import { implement } from '@bunting/bus';
import { DiscardChange } from '@bunting/contracts';
import { discardChange } from '../../domain/content/discard-change.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { requireProject } from '../require-project.ts';

export const discardChangeEndpoint = ({ bus, transaction }: ChangeRequestsContext) =>
  implement(DiscardChange, async (operationRequest) => {
    await requireProject(bus, operationRequest);
    return transaction(operationRequest, async ({ requests }) => {
      const { params, caller } = operationRequest;
      const before = await requests.getVisible(params, caller.id);
      await requests.save(discardChange(before, params.changeId, actorOf(caller, requests.now())));
      return null;
    });
  });
