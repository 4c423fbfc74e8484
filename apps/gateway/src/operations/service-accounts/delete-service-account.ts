import { implement } from '@bunting/bus';
import { DeleteServiceAccount } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import { removeAccount } from '../users/save-account.ts';
import type { GatewayContext } from '../context.ts';

export const deleteServiceAccountEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteServiceAccount, (request) =>
    transaction(request, async (tx) => {
      const account = await tx.users.findForUpdate(request.params.id, { only: 'service-accounts' });
      if (account === undefined) throw userNotFound();
      return removeAccount(tx, account);
    }),
  );
