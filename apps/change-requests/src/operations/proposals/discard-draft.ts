import { implement } from '@bunting/bus';
import { DiscardDraft } from '@bunting/contracts';
import { discardDraft } from '../../states/commands.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { requireProject } from '../require-project.ts';

export const discardDraftEndpoint = ({ bus, transaction, rolesOf }: ChangeRequestsContext) =>
  implement(DiscardDraft, async (operationRequest) => {
    await requireProject(bus, operationRequest);
    return transaction(operationRequest, async ({ requests }) => {
      const { params, caller } = operationRequest;
      const request = await requests.getVisible(params, caller.id);
      const actor = { ...actorOf(caller, requests.now()), roles: rolesOf(caller, request) };
      await requests.remove(request, discardDraft(request, actor));
      return null;
    });
  });
