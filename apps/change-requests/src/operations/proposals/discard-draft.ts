import { implement } from '@bunting/bus';
import { DiscardDraft } from '@bunting/contracts';
import { requireVisible } from '../../domain/require-visible.ts';
import { executeCommand } from '../../domain/review/execute-command.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const discardDraftEndpoint = ({ transaction, rolesOf }: ChangeRequestsContext) =>
  implement(DiscardDraft, (operationRequest) =>
    transaction(operationRequest, async ({ requests, events }) => {
      const { params, caller } = operationRequest;
      const request = requireVisible(await requests.getInProject(params.id, params.projectId), params.id, caller.id);
      const actor = { ...actorOf(operationRequest), roles: rolesOf(caller, request) };
      events.emit(executeCommand(request, { name: 'discard' }, actor).events);
      await requests.remove(request.id);
      return null;
    }),
  );
