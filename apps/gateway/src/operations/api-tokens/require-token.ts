import { type Caller, maySee, notFound } from '@bunting/contracts';
import type { ApiTokenKind } from '../../domain/api-token.ts';
import type { StoredToken } from '../../persistence/tokens/token-repository.ts';
import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';

/** False for a token of a project that the caller may not see: it is not there, either. */
export const maySeeToken = (caller: Caller, { projects }: StoredToken): boolean =>
  projects.every((project) => maySee(caller, project));

/** A token of these kinds. @throws Refusal 404, which does not say what was looked for: it may have been a secret. */
export const requireToken = async (
  { tokens }: Pick<GatewayTransaction, 'tokens'>,
  caller: Caller,
  token: string,
  kinds: readonly ApiTokenKind[],
): Promise<StoredToken> => {
  const found = await tokens.findForUpdate(token, kinds);
  if (found === undefined || !maySeeToken(caller, found)) throw notFound('Could not find the token');
  return found;
};
