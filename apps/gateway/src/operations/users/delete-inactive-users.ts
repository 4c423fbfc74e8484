import { implement } from '@bunting/bus';
import { DeleteInactiveUsers } from '@bunting/contracts';
import { userEventData } from '../../domain/accounts/users.ts';
import type { GatewayContext } from '../context.ts';

export const deleteInactiveUsersEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteInactiveUsers, (request) =>
    transaction(request, async ({ users, requireAdministratorLeft, events }) => {
      // The last use of the caller's own token may not be stored yet.
      const ids = request.body.ids.filter((id) => id !== request.caller.id);
      for (const { id } of await users.listInactive(ids)) {
        const user = await users.findForUpdate(id, { only: 'users' });
        if (user === undefined) continue;
        await users.remove(id);
        events.emit([{ type: 'user-deleted', preData: userEventData(user) }]);
      }
      await requireAdministratorLeft();
      return null;
    }),
  );
