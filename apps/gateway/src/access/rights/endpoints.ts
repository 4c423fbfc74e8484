import { implement } from '@bunting/bus';
import {
  CountEnvironmentTokens,
  CountProjectMembers,
  EndEnvironmentAccess,
  HideProject,
  ListPermissionHolders,
  unavailable,
} from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const countEnvironmentTokensEndpoint = ({ reads }: GatewayContext) =>
  implement(CountEnvironmentTokens, async ({ body: { project }, caller }) => ({
    environments: await reads.access.countEnvironmentTokens(project, caller.hiddenProjects ?? []),
  }));

export const countProjectMembersEndpoint = ({ reads }: GatewayContext) =>
  implement(CountProjectMembers, async ({ body: { project } }) => ({
    projects: await reads.access.countProjectMembers(project),
  }));

/** Applies earlier deletions first, which end tokens of the settings, too; others that name the environment follow. */
export const endEnvironmentAccessEndpoint = ({
  transaction,
  projectAndEnvironmentDirectory,
  invalidateRights,
}: GatewayContext) =>
  implement(EndEnvironmentAccess, async (request) => {
    const { environment } = request.body;
    if ((await projectAndEnvironmentDirectory.catchUp()) > 0)
      throw unavailable(`An earlier deletion of the environment ${environment} may not be complete. Please try again.`);
    await transaction(request, async ({ endEnvironmentAccess }) => {
      await endEnvironmentAccess(environment);
      return null;
    });
    invalidateRights();
    return null;
  });

/** Applies the hiding in this gateway before the reply; other gateways do so when the database notifies them of the change. */
export const hideProjectEndpoint = ({ pendingPrivateProjects, invalidateRights }: GatewayContext) =>
  implement(HideProject, async ({ body: { id, version } }) => {
    await pendingPrivateProjects.hide(id, version);
    invalidateRights();
    return null;
  });

/** The holders are active users and service accounts, not tokens, groups or roles. */
export const listPermissionHoldersEndpoint = ({ reads }: GatewayContext) =>
  implement(ListPermissionHolders, async ({ body: { permissions, project, environment } }) => ({
    users: await reads.access.findPermissionHolders(permissions, project, environment),
  }));
