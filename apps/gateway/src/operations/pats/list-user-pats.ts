import { implement } from '@bunting/bus';
import { ListUserPats } from '@bunting/contracts';
import { listAccountPats } from './account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const listUserPatsEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListUserPats, (request) => transaction(request, (tx) => listAccountPats(tx, 'users', request.params.id)));
