import { implement } from '@bunting/bus';
import { SetProjectAccess, type SetProjectAccessBody } from '@bunting/contracts';
import { requireMayGiveRoles, requireOwnerLeft, rolesIn, toldRoles } from './project-roles.ts';
import type { GatewayContext } from '../context.ts';

/** The wanted roles of each user or group, once each. */
const wantedBy = (which: 'users' | 'groups', { roles }: SetProjectAccessBody): Map<number, number[]> => {
  const wanted = new Map<number, Set<number>>();
  for (const role of roles)
    for (const id of role[which] ?? []) wanted.set(id, (wanted.get(id) ?? new Set()).add(role.id));
  return new Map([...wanted].map(([id, held]) => [id, [...held]]));
};

export const setProjectAccessEndpoint = ({ work, places }: GatewayContext) =>
  implement(SetProjectAccess, async (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    await places.requireProject(request, project);
    await places.requireHeardOf([project]);
    return work(request, async (tx) => {
      await tx.requireStanding([project]);
      const before = await rolesIn(tx, project);
      const hadOwner = await tx.projectAccess.hasOwner(project);
      for (const holder of ['user', 'group'] as const) {
        const wanted = wantedBy(`${holder}s`, body);
        for (const [id, roles] of wanted) {
          await requireMayGiveRoles(tx, before, { caller, project, holder, ids: [id], roles, at: '/body' });
          await tx.projectAccess.set(holder, project, id, roles);
        }
        await tx.projectAccess.keepOnly(holder, project, [...wanted.keys()]);
      }
      await requireOwnerLeft(tx, project, hadOwner);
      const [data, preData] = [toldRoles(await rolesIn(tx, project)), toldRoles(before)];
      if (JSON.stringify(data) !== JSON.stringify(preData))
        tx.tell({ type: 'project-access-updated', project, data, preData });
      return null;
    });
  });
