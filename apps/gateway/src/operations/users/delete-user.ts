import { implement } from '@bunting/bus';
import { DeleteUser, notFound } from '@bunting/contracts';
import { noSuchUser } from './change-account.ts';
import { toldUser } from './user-event.ts';
import type { GatewayContext } from '../context.ts';

export const deleteUserEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteUser, (request) =>
    work(request, async ({ people, requireAdministratorLeft, tell }) => {
      const user = await people.find(request.params.id, 'users');
      if (user === undefined) throw notFound(noSuchUser);
      await people.remove(user.id);
      await requireAdministratorLeft();
      tell({ type: 'user-deleted', preData: toldUser(user) });
      return null;
    }),
  );
