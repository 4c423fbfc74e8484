import { implement } from '@bunting/bus';
import { CreateUserPat } from '@bunting/contracts';
import { createAccountPat } from './manage-account-pats.ts';
import type { GatewayContext } from '../../access/context.ts';

export const createUserPatEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateUserPat, (request) =>
    transaction.revealingSecret(request, (tx) => createAccountPat(tx, 'users', request)),
  );
