import { type Caller } from '@bunting/contracts';
import { tokenNotFound } from '../../access/refusals.ts';
import { apiTokenKinds, requireMayActOn, type TokenAction } from '../../access/tokens/token.ts';
import type { StoredToken } from '../../access/tokens/token-store.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import { maySeeToken } from './token-visibility.ts';

/**
 * Reads an API token and locks its row. Undefined for one that does not exist or is revoked: as in Unleash, changing it has no effect, and
 * deleting it leaves it as dead as it is.
 * @throws Refusal 404 for a token of a project that the caller may not see, `NoAccessError` for one of another kind than the caller may act on
 */
export const findVisibleTokenForUpdate = async (
  { tokens }: Pick<Transaction, 'tokens'>,
  caller: Caller,
  token: string,
  action: TokenAction,
): Promise<StoredToken | undefined> => {
  const storedToken = await tokens.findForUpdate(token, apiTokenKinds);
  if (storedToken === undefined) return undefined;
  if (!maySeeToken(caller, storedToken)) throw tokenNotFound();
  requireMayActOn(caller, action, storedToken.type);
  return storedToken;
};
