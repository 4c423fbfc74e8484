import { implement } from '@bunting/bus';
import { CountTokens } from '@bunting/contracts';
import type { AccessReader } from '../../persistence/access-reader.ts';

export const countTokensEndpoint = (access: AccessReader) =>
  implement(CountTokens, async ({ body: { project }, caller }) => ({
    environments: await access.tokens(project, caller.hiddenProjects ?? []),
  }));
