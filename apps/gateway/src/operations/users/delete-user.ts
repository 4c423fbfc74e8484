import { implement } from '@bunting/bus';
import { DeleteUser } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import { userEventData } from '../../domain/accounts/users.ts';
import type { GatewayContext } from '../context.ts';

export const deleteUserEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteUser, (request) =>
    transaction(request, async ({ users, requireAdministratorLeft, events }) => {
      const user = await users.findForUpdate(request.params.id, { only: 'users' });
      if (user === undefined) throw userNotFound();
      await users.remove(user.id);
      await requireAdministratorLeft();
      events.emit([{ type: 'user-deleted', preData: userEventData(user) }]);
      return null;
    }),
  );
