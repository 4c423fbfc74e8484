import { implement } from '@bunting/bus';
import { DeleteUser } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';
import { removeAccount } from './remove-account.ts';

export const deleteUserEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteUser, (request) =>
    transaction(request, async (tx) =>
      removeAccount(tx, await tx.users.getForUpdate(request.params.id, { only: 'users' })),
    ),
  );
