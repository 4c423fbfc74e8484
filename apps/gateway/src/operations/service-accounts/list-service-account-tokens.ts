import { implement } from '@bunting/bus';
import { ListServiceAccountTokens } from '@bunting/contracts';
import { keysOf } from '../pats/account-keys.ts';
import type { GatewayContext } from '../context.ts';

export const listServiceAccountTokensEndpoint = ({ work }: GatewayContext) =>
  implement(ListServiceAccountTokens, (asked) => work(asked, (tx) => keysOf(tx, 'service-accounts', asked.params.id)));
