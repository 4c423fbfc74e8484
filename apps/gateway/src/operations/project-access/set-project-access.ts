import { implement } from '@bunting/bus';
import { SetProjectAccess, type SetProjectAccessBody } from '@bunting/contracts';
import { requireMayGrantRoles, requireOwnerLeft, lockProjectRoles, rolesEventData } from './project-roles.ts';
import type { GatewayContext } from '../context.ts';
import { withExistingProject } from './with-existing-project.ts';

/** The requested roles of each user or group, without duplicates. */
const wantedBy = (which: 'users' | 'groups', { roles }: SetProjectAccessBody): Map<number, number[]> => {
  const wanted = new Map<number, Set<number>>();
  for (const role of roles)
    for (const id of role[which] ?? []) wanted.set(id, (wanted.get(id) ?? new Set()).add(role.id));
  return new Map([...wanted].map(([id, held]) => [id, [...held]]));
};

export const setProjectAccessEndpoint = (context: GatewayContext) =>
  implement(SetProjectAccess, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    return withExistingProject(context, request, project, async (tx) => {
      const before = await lockProjectRoles(tx, project);
      const hadOwner = await tx.projectRoles.hasOwner(project);
      for (const assignee of ['user', 'group'] as const) {
        const wanted = wantedBy(`${assignee}s`, body);
        for (const [id, roles] of wanted) {
          await requireMayGrantRoles(tx, before, { caller, project, assignee, ids: [id], roles, bodyPath: '/body' });
          await tx.projectRoles.set(assignee, project, id, roles);
        }
        await tx.projectRoles.removeAllExcept(assignee, project, [...wanted.keys()]);
      }
      await requireOwnerLeft(tx, project, hadOwner);
      const after = await lockProjectRoles(tx, project);
      tx.emitIfChanged({
        type: 'project-access-updated',
        project,
        data: rolesEventData(after),
        preData: rolesEventData(before),
      });
    });
  });
