import { implement } from '@bunting/bus';
import { DeleteServiceAccount } from '@bunting/contracts';
import { toldUser } from '../users/told-user.ts';
import { requireServiceAccount } from './service-account.ts';
import type { GatewayContext } from '../context.ts';

export const deleteServiceAccountEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteServiceAccount, (asked) =>
    work(asked, async (tx) => {
      const account = await requireServiceAccount(tx, asked.params.id);
      await tx.people.remove(account.id);
      await tx.requireAdministratorLeft();
      tx.tell({ type: 'service-account-deleted', preData: toldUser(account) });
      return null;
    }),
  );
