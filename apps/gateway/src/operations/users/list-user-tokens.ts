import { implement } from '@bunting/bus';
import { ListUserTokens } from '@bunting/contracts';
import { keysOf } from '../pats/account-keys.ts';
import type { GatewayContext } from '../context.ts';

export const listUserTokensEndpoint = ({ work }: GatewayContext) =>
  implement(ListUserTokens, (asked) => work(asked, (tx) => keysOf(tx, 'users', asked.params.id)));
