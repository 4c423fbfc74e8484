import { implement } from '@bunting/bus';
import { GetRole, notFound } from '@bunting/contracts';
import { answeredRole } from './answered-role.ts';
import type { GatewayContext } from '../context.ts';
import { noSuchRole } from './no-such-role.ts';

export const getRoleEndpoint = ({ work }: GatewayContext) =>
  implement(GetRole, (asked) =>
    work(asked, async ({ roles }) => {
      const role = await roles.read(asked.params.id);
      if (role === undefined) throw notFound(noSuchRole);
      return answeredRole(role);
    }),
  );
