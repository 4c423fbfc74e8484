import { implement } from '@bunting/bus';
import { UpdateUser } from '@bunting/contracts';
import { updateAccount } from './update-account.ts';
import type { GatewayContext } from '../../access/context.ts';

export const updateUserEndpoint = ({ transaction }: GatewayContext) =>
  implement(UpdateUser, (request) =>
    transaction(request, async (tx) =>
      updateAccount(tx, await tx.users.getForUpdate(request.params.id, { only: 'users' }), request.body),
    ),
  );
