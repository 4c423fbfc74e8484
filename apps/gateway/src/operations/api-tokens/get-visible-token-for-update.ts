import { type Caller } from '@bunting/contracts';
import { tokenNotFound } from '../../domain/refusals.ts';
import type { ApiTokenKind } from '../../domain/tokens/api-token.ts';
import type { StoredToken } from '../../persistence/tokens/token-repository.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { maySeeToken } from './token-visibility.ts';

/** Reads an API token of these kinds and locks its row. @throws Refusal 404 for an unknown token and one that the caller may not see */
export const getVisibleTokenForUpdate = async (
  { tokens }: Pick<Transaction, 'tokens'>,
  caller: Caller,
  token: string,
  kinds: readonly ApiTokenKind[],
): Promise<StoredToken> => {
  const storedToken = await tokens.findForUpdate(token, kinds);
  if (storedToken === undefined || !maySeeToken(caller, storedToken)) throw tokenNotFound();
  return storedToken;
};
