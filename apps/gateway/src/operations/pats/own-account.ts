import { type Caller, refusal } from '@bunting/contracts';
import { isSomebody } from '../../domain/token-scope.ts';

/** @throws Refusal 403 for a token that stands for nobody. */
export const requireSomebody = (caller: Caller): void => {
  if (!isSomebody(caller)) throw refusal('ForbiddenError', 'PATs require an authenticated user.');
};
