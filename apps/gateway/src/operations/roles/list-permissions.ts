import { implement } from '@bunting/bus';
import { describePermission, ListPermissions, permissionsOfType, type PermissionType } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

const describedPermissionsOfType = (type: PermissionType) => permissionsOfType(type).map(describePermission);

export const listPermissionsEndpoint = ({ projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(ListPermissions, async (request) => ({
    version: 1 as const,
    permissions: {
      root: describedPermissionsOfType('root'),
      project: describedPermissionsOfType('project'),
      environments: (await projectAndEnvironmentDirectory.environments(request)).map((name) => ({
        name,
        permissions: describedPermissionsOfType('environment'),
      })),
    },
  }));
