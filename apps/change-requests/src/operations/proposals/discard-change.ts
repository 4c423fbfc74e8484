import { implement } from '@bunting/bus';
import { DiscardChange } from '@bunting/contracts';
import { discardChange } from '../../domain/content/discard-change.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const discardChangeEndpoint = ({ transaction }: ChangeRequestsContext) =>
  implement(DiscardChange, (operationRequest) =>
    transaction(operationRequest, async ({ requests }) => {
      const { params, caller } = operationRequest;
      const before = await requests.getVisible(params, caller.id);
      await requests.save(discardChange(before, params.changeId, actorOf(caller, requests.now())));
      return null;
    }),
  );
