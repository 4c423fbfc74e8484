import { implement } from '@bunting/bus';
import { CopyEnvironmentPermissions } from '@bunting/contracts';
import { roleUpdated } from './role.ts';
import type { GatewayContext } from '../context.ts';

export const copyEnvironmentPermissionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(CopyEnvironmentPermissions, (request) =>
    transaction(request, async ({ roles }) => {
      const { from, to } = request.body;
      await roles.copyEnvironment(from, to, roleUpdated);
      return null;
    }),
  );
