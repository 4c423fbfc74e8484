import { implement } from '@bunting/bus';
import { CountEnvironmentTokens } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const countEnvironmentTokensEndpoint = ({ reads }: GatewayContext) =>
  implement(CountEnvironmentTokens, async ({ body: { project }, caller }) => ({
    environments: await reads.access.countEnvironmentTokens(project, caller.hiddenProjects ?? []),
  }));
