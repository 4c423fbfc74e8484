import { implement } from '@bunting/bus';
import { DeleteProjectApiToken, notFound } from '@bunting/contracts';
import { answered, tokenEvent } from './token-event.ts';
import type { GatewayContext } from '../context.ts';
import { kinds } from './project-token-kinds.ts';

export const deleteProjectApiTokenEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteProjectApiToken, (request) =>
    work(request, async ({ tokens, tell }) => {
      const { projectId, token: wanted } = request.params;
      const token = await tokens.find(wanted, kinds);
      // One that gives other projects as well is not this project's to delete.
      if (token === undefined || token.projects.some((project) => project !== projectId))
        throw notFound('Could not find the token');
      await tokens.revoke(token.id);
      tell(tokenEvent('api-token-deleted', { preData: answered(token) }));
      return null;
    }),
  );
