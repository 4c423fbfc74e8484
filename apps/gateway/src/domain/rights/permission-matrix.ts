import {
  type Caller,
  describePermission,
  type Permission,
  permissionCatalogue,
  type UserPermissions,
} from '@bunting/contracts';
import { holdsPermission } from '../../access/roles/role.ts';

const everyPermission: readonly Permission[] = ['ADMIN', ...permissionCatalogue.keys()];

/**
 * Which permissions a user has: root permissions, those in the project, and those in the environment of the project if one is named.
 * @param user undefined for an inactive user, who has no permission
 */
export const permissionMatrix = (
  user: Caller | undefined,
  project: string | undefined,
  environment: string | undefined,
): UserPermissions['matrix'] => {
  const ofType = (type: string, scope: { readonly environment?: string } = {}, inProject?: string) =>
    everyPermission
      .map(describePermission)
      .filter((permission) => permission.type === type)
      .map((permission) => ({
        ...permission,
        ...scope,
        hasPermission: user !== undefined && holdsPermission(user, { ...permission, ...scope }, inProject),
      }));
  return {
    root: ofType('root'),
    project: ofType('project', {}, project),
    environment: environment === undefined ? [] : ofType('environment', { environment }, project),
  };
};
