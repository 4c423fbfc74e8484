import { implement } from '@bunting/bus';
import { CopyEnvironmentPermissions } from '@bunting/contracts';
import { roleUpdated } from '../../domain/rights/roles.ts';
import type { GatewayContext } from '../context.ts';

export const copyEnvironmentPermissionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(CopyEnvironmentPermissions, (request) =>
    transaction(request, async ({ roles, events }) => {
      const { from, to } = request.body;
      const copied = await roles.copyEnvironment(from, to);
      events.emit(copied.flatMap(({ before, after }) => roleUpdated(before, after)));
      return null;
    }),
  );
