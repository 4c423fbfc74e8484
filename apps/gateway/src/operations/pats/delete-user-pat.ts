import { implement } from '@bunting/bus';
import { DeleteUserPat } from '@bunting/contracts';
import { deleteAccountPat } from './manage-account-pats.ts';
import type { GatewayContext } from '../../access/context.ts';

export const deleteUserPatEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteUserPat, (request) =>
    transaction(request, (tx) => deleteAccountPat(tx, 'users', request.params.id, request.params.tokenId)),
  );
