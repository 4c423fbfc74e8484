import { type Caller, refusal } from '@bunting/contracts';
import { hasAccount } from '../../domain/token-scope.ts';

/** @throws Refusal 403 for a token that stands for nobody. */
export const requireAccount = (caller: Caller): void => {
  if (!hasAccount(caller)) throw refusal('ForbiddenError', 'PATs require an authenticated user.');
};
