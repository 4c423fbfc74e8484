import { implement } from '@bunting/bus';
import { DeleteServiceAccount } from '@bunting/contracts';
import { toldUser } from '../users/user-event.ts';
import { requireServiceAccount } from './service-account.ts';
import type { GatewayContext } from '../context.ts';

export const deleteServiceAccountEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteServiceAccount, (request) =>
    work(request, async (tx) => {
      const account = await requireServiceAccount(tx, request.params.id);
      await tx.people.remove(account.id);
      await tx.requireAdministratorLeft();
      tx.tell({ type: 'service-account-deleted', preData: toldUser(account) });
      return null;
    }),
  );
