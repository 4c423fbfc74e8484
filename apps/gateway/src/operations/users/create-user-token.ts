import { implement } from '@bunting/bus';
import { CreateUserToken } from '@bunting/contracts';
import { makeKeyOf } from '../pats/account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const createUserTokenEndpoint = ({ work }: GatewayContext) =>
  implement(CreateUserToken, (request) => work.revealing(request, (tx) => makeKeyOf(tx, 'users', request)));
