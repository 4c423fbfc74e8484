import { implement } from '@bunting/bus';
import { GetRole, notFound } from '@bunting/contracts';
import { answeredRole } from './role-response.ts';
import type { GatewayContext } from '../context.ts';
import { noSuchRole } from './no-such-role.ts';

export const getRoleEndpoint = ({ work }: GatewayContext) =>
  implement(GetRole, (request) =>
    work(request, async ({ roles }) => {
      const role = await roles.read(request.params.id);
      if (role === undefined) throw notFound(noSuchRole);
      return answeredRole(role);
    }),
  );
