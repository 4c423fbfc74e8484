import { implement } from '@bunting/bus';
import { UpdateServiceAccount } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { changeAccount } from '../users/change-account.ts';

export const updateServiceAccountEndpoint = (work: UnitOfWork) =>
  implement(UpdateServiceAccount, (asked) =>
    work(asked, async (tx) => {
      const account = await tx.people.find(asked.params.id, 'service-accounts');
      return changeAccount(tx, account, asked.body, 'service-account-updated');
    }),
  );
