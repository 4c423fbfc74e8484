import { implement } from '@bunting/bus';
import { ListServiceAccountTokens } from '@bunting/contracts';
import { keysOf } from '../pats/account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const listServiceAccountTokensEndpoint = ({ work }: GatewayContext) =>
  implement(ListServiceAccountTokens, (request) =>
    work(request, (tx) => keysOf(tx, 'service-accounts', request.params.id)),
  );
