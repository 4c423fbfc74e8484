import { implement } from '@bunting/bus';
import { CreateUserToken } from '@bunting/contracts';
import { createAccountPat } from './account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const createUserTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateUserToken, (request) =>
    transaction.revealingSecret(request, (tx) => createAccountPat(tx, 'users', request)),
  );
