import { implement } from '@bunting/bus';
import { DeleteServiceAccountToken } from '@bunting/contracts';
import { takeKeyOf } from '../pats/account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const deleteServiceAccountTokenEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteServiceAccountToken, (request) =>
    work(request, (tx) => takeKeyOf(tx, 'service-accounts', request.params.id, request.params.tokenId)),
  );
