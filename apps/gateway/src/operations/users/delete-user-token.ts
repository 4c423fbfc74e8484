import { implement } from '@bunting/bus';
import { DeleteUserToken } from '@bunting/contracts';
import { takeKeyOf } from '../pats/account-keys.ts';
import type { GatewayContext } from '../context.ts';

export const deleteUserTokenEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteUserToken, (asked) =>
    work(asked, (tx) => takeKeyOf(tx, 'users', asked.params.id, asked.params.tokenId)),
  );
