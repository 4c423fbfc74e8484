import { implement } from '@bunting/bus';
import { UpdateUser } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { changeAccount } from './change-account.ts';

export const updateUserEndpoint = (work: UnitOfWork) =>
  implement(UpdateUser, (asked) =>
    work(asked, async (tx) =>
      changeAccount(tx, await tx.people.find(asked.params.id, 'users'), asked.body, 'user-updated'),
    ),
  );
