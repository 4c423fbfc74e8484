import { type Endpoint, implement, JsonText } from '@bunting/bus';
import {
  CountEnvironmentTokens,
  CountProjectMembers,
  EndEnvironmentAccess,
  HideProject,
  ListPermissionHolders,
  unavailable,
} from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export function rightsEndpoints({
  reads,
  transaction,
  projectAndEnvironmentDirectory,
  invalidateRights,
  pendingPrivateProjects,
}: GatewayContext): readonly Endpoint[] {
  return [
    implement(CountEnvironmentTokens, async ({ body: { project }, caller }) => ({
      environments: await reads.access.countEnvironmentTokens(project, caller.hiddenProjects ?? []),
    })),
    implement(
      CountProjectMembers,
      async ({ body: { project } }) => new JsonText(await reads.access.countProjectMembers(project)),
    ),
    // Applies earlier deletions first, which end tokens of the settings, too; others that name the environment follow.
    implement(EndEnvironmentAccess, async (request) => {
      const { environment } = request.body;
      if ((await projectAndEnvironmentDirectory.catchUp()) > 0)
        throw unavailable(
          `An earlier deletion of the environment ${environment} may not be complete. Please try again.`,
        );
      await transaction(request, async ({ endEnvironmentAccess }) => {
        await endEnvironmentAccess(environment);
        return null;
      });
      invalidateRights();
      return null;
    }),
    // Applies the hiding in this gateway before the reply; other gateways do so when the database notifies them of the change.
    implement(HideProject, async ({ body: { id, version } }) => {
      await pendingPrivateProjects.hide(id, version);
      invalidateRights();
      return null;
    }),
    // The holders are active users and service accounts, not tokens, groups or roles.
    implement(ListPermissionHolders, async ({ body: { permissions, project, environment } }) => ({
      users: await reads.access.findPermissionHolders(permissions, project, environment),
    })),
  ];
}
