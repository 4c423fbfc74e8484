import type { Caller, EventType } from '@bunting/contracts';
import type { HolderType } from '../../persistence/rights/project-role-repository.ts';
import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';
import { requireMayGrantRoles, requireOwnerLeft, lockProjectRoles } from './project-roles.ts';

interface HolderRolesInput {
  readonly caller: Caller;
  readonly project: string;
  readonly holder: HolderType;
  readonly id: number;
  /** none to remove all of them */
  readonly roles: readonly number[];
  readonly type: EventType;
}

/** Replaces the roles of a user or a group in a project. Emits an event if they changed. */
export const setHolderRoles = async (
  tx: GatewayTransaction,
  { caller, project, holder, id, roles, type }: HolderRolesInput,
): Promise<void> => {
  const before = await lockProjectRoles(tx, project);
  const held = (holder === 'user' ? before.users : before.groups).get(id) ?? [];
  const wanted = [...new Set(roles)].toSorted((one, other) => one - other);
  if (wanted.length > 0)
    await requireMayGrantRoles(tx, before, { caller, project, holder, ids: [id], roles: wanted, bodyPath: '/body' });
  if (String(held) === String(wanted)) return;
  const hadOwner = await tx.projectRoles.hasOwner(project);
  await tx.projectRoles.set(holder, project, id, wanted);
  await requireOwnerLeft(tx, project, hadOwner);
  const eventData = (now: readonly number[]) => (now.length === 0 ? null : { [`${holder}Id`]: id, roles: now });
  tx.emit({ type, project, data: eventData(wanted), preData: eventData(held) });
};
