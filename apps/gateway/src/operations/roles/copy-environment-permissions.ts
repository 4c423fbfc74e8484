import { implement } from '@bunting/bus';
import { CopyEnvironmentPermissions } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const copyEnvironmentPermissionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(CopyEnvironmentPermissions, (request) =>
    transaction(request, async ({ roles, emit }) => {
      const { from, to } = request.body;
      for (const { before, after } of await roles.copyEnvironment(from, to)) {
        emit({ type: 'role-updated', data: after, preData: before });
      }
      return null;
    }),
  );
