import { implement } from '@bunting/bus';
import { DiscardDraft } from '@bunting/contracts';
import { move, requireVisible } from '../../domain/review/move.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const discardDraftEndpoint = ({ work, rolesOf }: ChangeRequestsContext) =>
  implement(DiscardDraft, (operationRequest) =>
    work(operationRequest, async ({ requests, outbox }) => {
      const { params, caller } = operationRequest;
      const request = requireVisible(await requests.getInProject(params.id, params.projectId), params.id, caller.id);
      const actor = { ...actorOf(operationRequest), roles: rolesOf(caller, request) };
      for (const event of move(request, 'discard', actor).events) outbox.event(event);
      await requests.remove(request.id);
      return null;
    }),
  );
