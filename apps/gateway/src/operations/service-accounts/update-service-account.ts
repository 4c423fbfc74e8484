import { implement } from '@bunting/bus';
import { UpdateServiceAccount } from '@bunting/contracts';
import { updateAccount } from '../users/update-account.ts';
import type { GatewayContext } from '../../access/context.ts';

export const updateServiceAccountEndpoint = ({ transaction }: GatewayContext) =>
  implement(UpdateServiceAccount, (request) =>
    transaction(request, async (tx) => {
      const account = await tx.users.getForUpdate(request.params.id, { only: 'service-accounts' });
      return updateAccount(tx, account, request.body);
    }),
  );
