import { type ApiToken, type Caller, maySee } from '@bunting/contracts';
import { permittedKinds } from '../../access/tokens/token.ts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { StoredToken } from '../../access/tokens/token-store.ts';
import { toListedToken } from './token-response.ts';

/** Whether the caller may see all projects of a token; a token of a hidden project is hidden too. */
export const maySeeToken = (caller: Caller, { projects }: StoredToken): boolean =>
  projects.every((project) => maySee(caller, project));

/** The API tokens that the caller may list. */
export const visibleTokens = async ({ tokens }: Pick<GatewayReads, 'tokens'>, caller: Caller): Promise<ApiToken[]> => {
  const storedTokens = await tokens.list(permittedKinds(caller, 'READ'));
  const creatableKinds = permittedKinds(caller, 'CREATE');
  return storedTokens
    .filter((token) => maySeeToken(caller, token))
    .map((token) => toListedToken(token, creatableKinds.includes(token.type)));
};
