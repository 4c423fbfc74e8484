import { implement } from '@bunting/bus';
import { GetUser, notFound } from '@bunting/contracts';
import { noSuchUser } from './change-account.ts';
import type { GatewayContext } from '../context.ts';

export const getUserEndpoint = ({ transaction }: GatewayContext) =>
  implement(GetUser, (request) =>
    transaction(request, async ({ users }) => {
      const user = await users.find(request.params.id, 'users');
      if (user === undefined) throw notFound(noSuchUser);
      return user;
    }),
  );
