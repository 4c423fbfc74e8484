import { implement } from '@bunting/bus';
import { ListUserTokens } from '@bunting/contracts';
import { keysOf } from '../pats/account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const listUserTokensEndpoint = ({ work }: GatewayContext) =>
  implement(ListUserTokens, (request) => work(request, (tx) => keysOf(tx, 'users', request.params.id)));
