import { implement } from '@bunting/bus';
import { DeleteUserToken } from '@bunting/contracts';
import { takeKeyOf } from '../pats/account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const deleteUserTokenEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteUserToken, (request) =>
    work(request, (tx) => takeKeyOf(tx, 'users', request.params.id, request.params.tokenId)),
  );
