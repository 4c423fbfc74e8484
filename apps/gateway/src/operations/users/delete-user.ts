import { implement } from '@bunting/bus';
import { DeleteUser } from '@bunting/contracts';
import { removeAccount } from './save-account.ts';
import type { GatewayContext } from '../context.ts';

export const deleteUserEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteUser, (request) =>
    transaction(request, async (tx) =>
      removeAccount(tx, await tx.users.getForUpdate(request.params.id, { only: 'users' })),
    ),
  );
