import type { Caller, EventType } from '@bunting/contracts';
import { type AssigneeType, requireOwnerLeft, withRolesOf } from '../../domain/rights/project-roles.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { authoriseAssignment, lockProjectRoles } from './project-roles.ts';

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
  tx: Transaction,
  { caller, project, assignee, id, roles: requestedRoles, type }: AssigneeRolesInput,
): Promise<void> => {
  const before = await lockProjectRoles(tx, project);
  const rolesBefore = before[`${assignee}s`].get(id) ?? [];
  const roles = [...new Set(requestedRoles)].toSorted((one, other) => one - other);
  if (roles.length > 0) {
    const none = { users: new Map<number, number[]>(), groups: new Map<number, number[]>() };
    const requested = withRolesOf(none, assignee, id, roles);
    await authoriseAssignment(tx, { caller, project, before, roles, requested });
  }
  if (String(rolesBefore) === String(roles)) return;
  requireOwnerLeft(before, withRolesOf(before, assignee, id, roles));
  await tx.projectRoles.set(assignee, project, id, roles);
  const eventData = (list: readonly number[]) => (list.length === 0 ? null : { [`${assignee}Id`]: id, roles: list });
  tx.events.emit([{ type, project, data: eventData(roles), preData: eventData(rolesBefore) }]);
};
