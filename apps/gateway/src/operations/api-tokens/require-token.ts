import { type Caller, maySee } from '@bunting/contracts';
import { tokenNotFound } from '../../domain/refusals.ts';
import type { ApiTokenKind } from '../../domain/tokens/api-token.ts';
import type { StoredToken } from '../../persistence/tokens/token-repository.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Whether the caller may see all projects of a token; a token of a hidden project is hidden too. */
export const maySeeToken = (caller: Caller, { projects }: StoredToken): boolean =>
  projects.every((project) => maySee(caller, project));

/** A token of these kinds, locked. @throws Refusal 404 */
export const requireToken = async (
  { tokens }: Pick<Transaction, 'tokens'>,
  caller: Caller,
  token: string,
  kinds: readonly ApiTokenKind[],
): Promise<StoredToken> => {
  const found = await tokens.findForUpdate(token, kinds);
  if (found === undefined || !maySeeToken(caller, found)) throw tokenNotFound();
  return found;
};
