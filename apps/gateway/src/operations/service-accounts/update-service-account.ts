import { implement } from '@bunting/bus';
import { UpdateServiceAccount } from '@bunting/contracts';
import { changeAccount } from '../users/change-account.ts';
import type { GatewayContext } from '../context.ts';

export const updateServiceAccountEndpoint = ({ work }: GatewayContext) =>
  implement(UpdateServiceAccount, (asked) =>
    work(asked, async (tx) => {
      const account = await tx.people.find(asked.params.id, 'service-accounts');
      return changeAccount(tx, account, asked.body, 'service-account-updated');
    }),
  );
