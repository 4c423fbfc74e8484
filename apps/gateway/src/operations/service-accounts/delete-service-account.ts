import { implement } from '@bunting/bus';
import { DeleteServiceAccount } from '@bunting/contracts';
import { removeAccount } from '../users/save-account.ts';
import type { GatewayContext } from '../context.ts';

export const deleteServiceAccountEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteServiceAccount, (request) =>
    transaction(request, async (tx) =>
      removeAccount(tx, await tx.users.getForUpdate(request.params.id, { only: 'service-accounts' })),
    ),
  );
