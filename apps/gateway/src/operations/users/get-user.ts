import { implement } from '@bunting/bus';
import { GetUser } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';

export const getUserEndpoint = ({ transaction }: GatewayContext) =>
  implement(GetUser, (request) =>
    transaction(request, async ({ users }) => {
      const user = await users.find(request.params.id, { only: 'users' });
      if (user === undefined) throw userNotFound();
      return user;
    }),
  );
