import { implement } from '@bunting/bus';
import { DeleteServiceAccountToken } from '@bunting/contracts';
import { deleteAccountPat } from '../pats/manage-account-pats.ts';
import type { GatewayContext } from '../../access/context.ts';

export const deleteServiceAccountTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteServiceAccountToken, (request) =>
    transaction(request, (tx) => deleteAccountPat(tx, 'service-accounts', request.params.id, request.params.tokenId)),
  );
