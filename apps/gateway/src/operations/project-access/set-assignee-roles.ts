import type { Caller } from '@bunting/contracts';
import { type ReplacedRoles, replaceRoles, replacingAssignment } from '../../domain/rights/project-roles.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { authoriseAssignment, lockProjectRoles } from './project-roles.ts';

/** Replaces the roles of a user or a group in a project. Emits an event if they changed. */
export const setAssigneeRoles = async (tx: Transaction, caller: Caller, replaced: ReplacedRoles): Promise<void> => {
  const { project, assignee, id } = replaced;
  const before = await lockProjectRoles(tx, project);
  if (replaced.roles.length > 0)
    await authoriseAssignment(tx, { caller, project, before, ...replacingAssignment(replaced) });
  const { roles, events } = replaceRoles(before, replaced);
  if (events.length === 0) return;
  await tx.projectRoles.set(assignee, project, id, roles);
  tx.events.emit(events);
};
