import { implement } from '@bunting/bus';
import { GetUser } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';

export const getUserEndpoint = ({ reads }: GatewayContext) =>
  implement(GetUser, async ({ params }) => {
    const user = await reads.users.find(params.id, { only: 'users' });
    if (user === undefined) throw userNotFound();
    return user;
  });
