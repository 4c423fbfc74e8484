import { type EventType, type UpdateUserBody, type User } from '@bunting/contracts';
import { requireEmailAddress } from '../../domain/user-names.ts';
import { badRequest, userNotFound } from '../../domain/refusals.ts';
import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';
import { requireRootRole } from './root-roles.ts';
import { userEventData } from './user-event.ts';

const changedText = (given: string | null | undefined, before: string | undefined): string | null =>
  given === undefined ? (before ?? null) : given?.trim().normalize('NFC') || null;

/** Updates a user or a service account. Emits an event if anything changed. */
export const updateAccount = async (
  tx: GatewayTransaction,
  before: User | undefined,
  body: UpdateUserBody,
  type: EventType,
): Promise<User> => {
  if (before === undefined) throw userNotFound();
  const email = changedText(body.email, before.email)?.toLowerCase() ?? null;
  requireEmailAddress(email);
  if (email === null && before.username === undefined)
    throw badRequest('You must specify username or email', '/body/email');
  const after = await tx.users.save(before.id, {
    name: changedText(body.name, before.name),
    email,
    rootRole: body.rootRole === undefined ? before.rootRole : await requireRootRole(tx, body.rootRole),
    active: body.active ?? before.active,
  });
  if (!tx.emitIfChanged({ type, data: userEventData(after), preData: userEventData(before) })) return after;
  if (before.active && !after.active) await tx.sessions.endAll(after.id);
  await tx.requireAdministratorLeft();
  return after;
};
