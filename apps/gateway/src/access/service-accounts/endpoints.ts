import { implement } from '@bunting/bus';
import { CreateServiceAccountToken } from '@bunting/contracts';
import { createAccountPat } from '../../operations/pats/manage-account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const createServiceAccountTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateServiceAccountToken, (request) =>
    transaction.revealingSecret(request, (tx) => createAccountPat(tx, 'service-accounts', request)),
  );
