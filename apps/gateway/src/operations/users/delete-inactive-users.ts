import { implement } from '@bunting/bus';
import { DeleteInactiveUsers } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';
import { removeAccount } from './remove-account.ts';

export const deleteInactiveUsersEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteInactiveUsers, (request) =>
    transaction(request, async (tx) => {
      // The last use of the caller's own token may not be stored yet.
      const ids = request.body.ids.filter((id) => id !== request.caller.id);
      for (const { id } of await tx.users.listInactive(ids)) {
        const user = await tx.users.findForUpdate(id, { only: 'users' });
        if (user !== undefined) await removeAccount(tx, user);
      }
      return null;
    }),
  );
