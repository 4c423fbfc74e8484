import type { UpdateUserBody, User } from '@bunting/contracts';
import { updatedAccount } from '../../domain/accounts/accounts.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { requireRootRole } from './require-root-role.ts';
import { storeAccountUpdate } from './store-account-update.ts';

/** Updates a user or a service account. Emits an event if anything changed. */
export const updateAccount = async (tx: Transaction, before: User, body: UpdateUserBody): Promise<User> => {
  const properties = updatedAccount(before, body);
  const rootRole = body.rootRole === undefined ? before.rootRole : await requireRootRole(tx, body.rootRole);
  return storeAccountUpdate(tx, before, { ...properties, rootRole });
};
