import { implement } from '@bunting/bus';
import { DeleteServiceAccount } from '@bunting/contracts';
import { userEventData } from '../../domain/accounts/users.ts';
import { userNotFound } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';

export const deleteServiceAccountEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteServiceAccount, (request) =>
    transaction(request, async (tx) => {
      const account = await tx.users.findForUpdate(request.params.id, { only: 'service-accounts' });
      if (account === undefined) throw userNotFound();
      await tx.users.remove(account.id);
      await tx.requireAdministratorLeft();
      tx.events.emit([{ type: 'service-account-deleted', preData: userEventData(account) }]);
      return null;
    }),
  );
