import { implement } from '@bunting/bus';
import { CreateServiceAccountToken } from '@bunting/contracts';
import { makeKeyOf } from '../pats/account-keys.ts';
import type { GatewayContext } from '../context.ts';

export const createServiceAccountTokenEndpoint = ({ work }: GatewayContext) =>
  implement(CreateServiceAccountToken, (asked) =>
    work.revealing(asked, (tx) => makeKeyOf(tx, 'service-accounts', asked)),
  );
