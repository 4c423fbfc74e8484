import { implement } from '@bunting/bus';
import { ListUserTokens } from '@bunting/contracts';
import { listAccountPats } from './account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const listUserTokensEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListUserTokens, (request) => transaction(request, (tx) => listAccountPats(tx, 'users', request.params.id)));
