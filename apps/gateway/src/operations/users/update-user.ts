import { implement } from '@bunting/bus';
import { UpdateUser } from '@bunting/contracts';
import { changeAccount } from './change-account.ts';
import type { GatewayContext } from '../context.ts';

export const updateUserEndpoint = ({ work }: GatewayContext) =>
  implement(UpdateUser, (request) =>
    work(request, async (tx) =>
      changeAccount(tx, await tx.people.find(request.params.id, 'users'), request.body, 'user-updated'),
    ),
  );
