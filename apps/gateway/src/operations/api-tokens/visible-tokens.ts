import { type ApiToken, type Caller } from '@bunting/contracts';
import { permittedKinds } from '../../domain/tokens/api-token.ts';
import type { GatewayReads } from '../../persistence/reads.ts';
import { maySeeToken } from './require-token.ts';
import { toListedToken } from './token-response.ts';

/** The API tokens that the caller may list. */
export const visibleTokens = async ({ tokens }: Pick<GatewayReads, 'tokens'>, caller: Caller): Promise<ApiToken[]> => {
  const found = await tokens.list(permittedKinds(caller, 'READ'));
  const creatable = permittedKinds(caller, 'CREATE');
  return found
    .filter((token) => maySeeToken(caller, token))
    .map((token) => toListedToken(token, creatable.includes(token.type)));
};
