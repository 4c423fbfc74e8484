import { implement } from '@bunting/bus';
import { DeleteUserToken } from '@bunting/contracts';
import { deleteAccountPat } from './account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const deleteUserTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteUserToken, (request) =>
    transaction(request, (tx) => deleteAccountPat(tx, 'users', request.params.id, request.params.tokenId)),
  );
