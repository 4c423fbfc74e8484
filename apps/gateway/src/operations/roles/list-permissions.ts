import { implement } from '@bunting/bus';
import { describePermission, ListPermissions, permissionsOfType, type PermissionType } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

const ofType = (wanted: PermissionType) => permissionsOfType(wanted).map(describePermission);

export const listPermissionsEndpoint = ({ projectDirectory }: GatewayContext) =>
  implement(ListPermissions, async (request) => ({
    version: 1 as const,
    permissions: {
      root: ofType('root'),
      project: ofType('project'),
      environments: (await projectDirectory.environments(request)).map((name) => ({
        name,
        permissions: ofType('environment'),
      })),
    },
  }));
