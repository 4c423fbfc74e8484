import { implement } from '@bunting/bus';
import { CountTokens } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const countTokensEndpoint = ({ access }: GatewayContext) =>
  implement(CountTokens, async ({ body: { project }, caller }) => ({
    environments: await access.tokens(project, caller.hiddenProjects ?? []),
  }));
