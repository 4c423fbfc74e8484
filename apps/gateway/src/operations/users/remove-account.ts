import type { User } from '@bunting/contracts';
import { accountDeleted } from '../../domain/accounts/accounts.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';

/** Deletes a user or a service account with tokens, sessions and memberships. */
export const removeAccount = async (tx: Transaction, account: User): Promise<null> => {
  await tx.users.remove(account.id, [accountDeleted(account)]);
  return null;
};
