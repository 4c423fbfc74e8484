import { implement } from '@bunting/bus';
import { CountEnvironmentTokens } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const countEnvironmentTokensEndpoint = ({ accessReader }: GatewayContext) =>
  implement(CountEnvironmentTokens, async ({ body: { project }, caller }) => ({
    environments: await accessReader.countEnvironmentTokens(project, caller.hiddenProjects ?? []),
  }));
