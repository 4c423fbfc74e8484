import { implement } from '@bunting/bus';
import { CreateUserToken } from '@bunting/contracts';
import { makeKeyOf } from '../pats/account-keys.ts';
import type { GatewayContext } from '../context.ts';

export const createUserTokenEndpoint = ({ work }: GatewayContext) =>
  implement(CreateUserToken, (asked) => work.revealing(asked, (tx) => makeKeyOf(tx, 'users', asked)));
