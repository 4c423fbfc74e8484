import { implement } from '@bunting/bus';
import { GetUser } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const getUserEndpoint = ({ reads }: GatewayContext) =>
  implement(GetUser, ({ params }) => reads.users.get(params.id, { only: 'users' }));
