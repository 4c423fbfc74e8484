import { implement } from '@bunting/bus';
import { DeleteProjectApiToken } from '@bunting/contracts';
import { tokenNotFound } from '../../access/refusals.ts';
import { belongsToProject, sdkTokenKinds } from '../../access/tokens/token.ts';
import { tokenEvent } from '../../domain/tokens/token-event.ts';
import type { GatewayContext } from '../../access/context.ts';

export const deleteProjectApiTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteProjectApiToken, (request) =>
    transaction(request, async ({ tokens }) => {
      const { projectId } = request.params;
      const token = await tokens.findForUpdate(request.params.token, sdkTokenKinds);
      // A token that is also for other projects cannot be deleted through this one.
      if (token === undefined || !belongsToProject(token, projectId)) throw tokenNotFound();
      await tokens.revoke(token, [tokenEvent('api-token-deleted', { preData: token })]);
      return null;
    }),
  );
