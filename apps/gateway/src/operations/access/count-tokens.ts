import { implement } from '@bunting/bus';
import { CountTokens } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const countTokensEndpoint = ({ accessReader }: GatewayContext) =>
  implement(CountTokens, async ({ body: { project }, caller }) => ({
    environments: await accessReader.countTokens(project, caller.hiddenProjects ?? []),
  }));
