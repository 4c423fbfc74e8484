import { implement } from '@bunting/bus';
import { CreateServiceAccountToken } from '@bunting/contracts';
import { makeKeyOf } from '../pats/account-pats.ts';
import type { GatewayContext } from '../context.ts';

export const createServiceAccountTokenEndpoint = ({ work }: GatewayContext) =>
  implement(CreateServiceAccountToken, (request) =>
    work.revealing(request, (tx) => makeKeyOf(tx, 'service-accounts', request)),
  );
