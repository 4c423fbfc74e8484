import { implement } from '@bunting/bus';
import { ListServiceAccountTokens } from '@bunting/contracts';
import { listAccountPats } from '../pats/account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const listServiceAccountTokensEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListServiceAccountTokens, (request) =>
    transaction(request, (tx) => listAccountPats(tx, 'service-accounts', request.params.id)),
  );
