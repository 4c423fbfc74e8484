import type { EventType, UpdateUserBody, User } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import { updatedUser, userEventData } from '../../domain/accounts/users.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Updates a user or a service account. Emits an event if anything changed. */
export const updateAccount = async (
  tx: Transaction,
  before: User | undefined,
  body: UpdateUserBody,
  type: EventType,
): Promise<User> => {
  if (before === undefined) throw userNotFound();
  const properties = updatedUser(before, body);
  const rootRole = body.rootRole === undefined ? before.rootRole : await tx.roles.requireRootRole(body.rootRole);
  const after = await tx.users.save(before.id, { ...properties, rootRole });
  if (!tx.events.emitIfChanged({ type, data: userEventData(after), preData: userEventData(before) })) return after;
  if (before.active && !after.active) await tx.sessions.endAll(after.id);
  await tx.requireAdministratorLeft();
  return after;
};
