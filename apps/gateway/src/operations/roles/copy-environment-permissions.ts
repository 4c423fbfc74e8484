import { implement } from '@bunting/bus';
import { CopyEnvironmentPermissions } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const copyEnvironmentPermissionsEndpoint = ({ work }: GatewayContext) =>
  implement(CopyEnvironmentPermissions, (request) =>
    work(request, async ({ roles, tell }) => {
      const { from, to } = request.body;
      for (const { before, after } of await roles.copyEnvironment(from, to)) {
        tell({ type: 'role-updated', data: after, preData: before });
      }
      return null;
    }),
  );
