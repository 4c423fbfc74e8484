import { implement } from '@bunting/bus';
import { DeleteUser } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import { removeAccount } from './save-account.ts';
import type { GatewayContext } from '../context.ts';

export const deleteUserEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteUser, (request) =>
    transaction(request, async (tx) => {
      const user = await tx.users.findForUpdate(request.params.id, { only: 'users' });
      if (user === undefined) throw userNotFound();
      return removeAccount(tx, user);
    }),
  );
