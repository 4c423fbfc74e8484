import { implement } from '@bunting/bus';
import { UpdateUser } from '@bunting/contracts';
import { changeAccount } from './change-account.ts';
import type { GatewayContext } from '../context.ts';

export const updateUserEndpoint = ({ work }: GatewayContext) =>
  implement(UpdateUser, (asked) =>
    work(asked, async (tx) =>
      changeAccount(tx, await tx.people.find(asked.params.id, 'users'), asked.body, 'user-updated'),
    ),
  );
