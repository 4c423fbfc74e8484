import { type Caller, maySee, notFound } from '@bunting/contracts';
import type { ApiTokenKind } from '../../domain/tokens/api-token.ts';
import type { StoredToken } from '../../persistence/tokens/token-repository.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Whether the caller may see all projects of a token; a token of a hidden project is hidden too. */
export const maySeeToken = (caller: Caller, { projects }: StoredToken): boolean =>
  projects.every((project) => maySee(caller, project));

/** A token of these kinds, locked. @throws Refusal 404 that does not quote the request, which may contain a secret */
export const requireToken = async (
  { tokens }: Pick<Transaction, 'tokens'>,
  caller: Caller,
  token: string,
  kinds: readonly ApiTokenKind[],
): Promise<StoredToken> => {
  const found = await tokens.findForUpdate(token, kinds);
  if (found === undefined || !maySeeToken(caller, found)) throw notFound('Could not find the token');
  return found;
};
