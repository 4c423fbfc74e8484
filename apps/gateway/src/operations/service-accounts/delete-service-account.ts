import { implement } from '@bunting/bus';
import { DeleteServiceAccount } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';
import { removeAccount } from '../users/remove-account.ts';

export const deleteServiceAccountEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteServiceAccount, (request) =>
    transaction(request, async (tx) =>
      removeAccount(tx, await tx.users.getForUpdate(request.params.id, { only: 'service-accounts' })),
    ),
  );
