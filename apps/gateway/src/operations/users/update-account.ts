import type { UpdateUserBody, User } from '@bunting/contracts';
import { accountUpdated, updatedAccount } from '../../domain/accounts/accounts.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import { requireRootRole } from './require-root-role.ts';

/** Updates a user or a service account. Emits an event if anything changed. */
export const updateAccount = async (tx: Transaction, before: User, body: UpdateUserBody): Promise<User> => {
  const properties = updatedAccount(before, body);
  const rootRole = body.rootRole === undefined ? before.rootRole : await requireRootRole(tx, body.rootRole);
  return tx.users.save(before.id, { ...properties, rootRole }, (stored) => accountUpdated(before, stored));
};
