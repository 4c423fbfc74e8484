import { implement } from '@bunting/bus';
import { DeleteInactiveUsers } from '@bunting/contracts';
import { toldUser } from './user-event.ts';
import type { GatewayContext } from '../context.ts';

export const deleteInactiveUsersEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteInactiveUsers, (request) =>
    work(request, async ({ people, requireAdministratorLeft, tell }) => {
      // The use of the caller's own key may not be written down yet.
      const ids = request.body.ids.filter((id) => id !== request.caller.id);
      for (const { id } of await people.inactive(ids)) {
        const user = await people.find(id, 'users');
        if (user === undefined) continue;
        await people.remove(id);
        tell({ type: 'user-deleted', preData: toldUser(user) });
      }
      await requireAdministratorLeft();
      return null;
    }),
  );
