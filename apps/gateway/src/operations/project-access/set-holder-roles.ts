import type { Caller, EventType } from '@bunting/contracts';
import type { Holder } from '../../persistence/rights/project-role-repository.ts';
import type { Work } from '../../persistence/unit-of-work.ts';
import { requireMayGiveRoles, requireOwnerLeft, rolesIn } from './project-roles.ts';

interface Wanted {
  readonly caller: Caller;
  readonly project: string;
  readonly holder: Holder;
  readonly id: number;
  /** none: all are taken */
  readonly roles: readonly number[];
  readonly type: EventType;
}

/** Replaces the roles that a user or a group has in a project, and tells it when anything became different. */
export const setHolderRoles = async (tx: Work, { caller, project, holder, id, roles, type }: Wanted): Promise<void> => {
  const before = await rolesIn(tx, project);
  const held = (holder === 'user' ? before.users : before.groups).get(id) ?? [];
  const wanted = [...new Set(roles)].toSorted((one, other) => one - other);
  if (wanted.length > 0)
    await requireMayGiveRoles(tx, before, { caller, project, holder, ids: [id], roles: wanted, at: '/body' });
  if (String(held) === String(wanted)) return;
  const hadOwner = await tx.projectAccess.hasOwner(project);
  await tx.projectAccess.set(holder, project, id, wanted);
  await requireOwnerLeft(tx, project, hadOwner);
  const told = (now: readonly number[]) => (now.length === 0 ? null : { [`${holder}Id`]: id, roles: now });
  tx.tell({ type, project, data: told(wanted), preData: told(held) });
};
