import type { UpdateUserBody, User } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import { updatedUser, updateOutcome } from '../../domain/accounts/users.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Updates a user or a service account. Emits an event if anything changed. */
export const updateAccount = async (
  tx: Transaction,
  before: User | undefined,
  body: UpdateUserBody,
  type: 'user-updated' | 'service-account-updated',
): Promise<User> => {
  if (before === undefined) throw userNotFound();
  const properties = updatedUser(before, body);
  const rootRole = body.rootRole === undefined ? before.rootRole : await tx.roles.requireRootRole(body.rootRole);
  const after = await tx.users.save(before.id, { ...properties, rootRole });
  const { events, endsSessions } = updateOutcome(type, before, after);
  if (events.length === 0) return after;
  if (endsSessions) await tx.sessions.endAll(after.id);
  await tx.requireAdministratorLeft();
  tx.events.emit(events);
  return after;
};
