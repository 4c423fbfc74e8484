import type { User } from '@bunting/contracts';
import { accountUpdated, isDeactivation } from '../../domain/accounts/accounts.ts';
import type { UserUpdate } from '../../persistence/accounts/user-repository.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Stores the update of a user or a service account; a deactivation ends the sessions. Emits an event if anything changed. */
export const storeAccountUpdate = async (tx: Transaction, before: User, update: UserUpdate): Promise<User> => {
  const after = await tx.users.save(before.id, update, (stored) => accountUpdated(before, stored));
  if (isDeactivation(before, after)) await tx.sessions.endAll(after.id);
  return after;
};
