import type { Caller, EventType } from '@bunting/contracts';
import type { AssigneeType } from '../../persistence/rights/project-role-repository.ts';
import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';
import { requireMayGrantRoles, requireOwnerLeft, lockProjectRoles } from './project-roles.ts';

interface AssigneeRolesInput {
  readonly caller: Caller;
  readonly project: string;
  readonly assignee: AssigneeType;
  readonly id: number;
  /** none to remove all of them */
  readonly roles: readonly number[];
  readonly type: EventType;
}

/** Replaces the roles of a user or a group in a project. Emits an event if they changed. */
export const setAssigneeRoles = async (
  tx: GatewayTransaction,
  { caller, project, assignee, id, roles, type }: AssigneeRolesInput,
): Promise<void> => {
  const before = await lockProjectRoles(tx, project);
  const held = (assignee === 'user' ? before.users : before.groups).get(id) ?? [];
  const wanted = [...new Set(roles)].toSorted((one, other) => one - other);
  if (wanted.length > 0)
    await requireMayGrantRoles(tx, before, { caller, project, assignee, ids: [id], roles: wanted, bodyPath: '/body' });
  if (String(held) === String(wanted)) return;
  const hadOwner = await tx.projectRoles.hasOwner(project);
  await tx.projectRoles.set(assignee, project, id, wanted);
  await requireOwnerLeft(tx, project, hadOwner);
  const eventData = (now: readonly number[]) => (now.length === 0 ? null : { [`${assignee}Id`]: id, roles: now });
  tx.emit({ type, project, data: eventData(wanted), preData: eventData(held) });
};
