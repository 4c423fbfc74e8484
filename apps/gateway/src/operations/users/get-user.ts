import { implement } from '@bunting/bus';
import { GetUser, notFound } from '@bunting/contracts';
import { noSuchUser } from './change-account.ts';
import type { GatewayContext } from '../context.ts';

export const getUserEndpoint = ({ work }: GatewayContext) =>
  implement(GetUser, (request) =>
    work(request, async ({ people }) => {
      const user = await people.read(request.params.id, 'users');
      if (user === undefined) throw notFound(noSuchUser);
      return user;
    }),
  );
