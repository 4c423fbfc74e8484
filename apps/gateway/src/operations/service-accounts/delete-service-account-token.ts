import { implement } from '@bunting/bus';
import { DeleteServiceAccountToken } from '@bunting/contracts';
import { takeKeyOf } from '../pats/account-keys.ts';
import type { GatewayContext } from '../context.ts';

export const deleteServiceAccountTokenEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteServiceAccountToken, (asked) =>
    work(asked, (tx) => takeKeyOf(tx, 'service-accounts', asked.params.id, asked.params.tokenId)),
  );
