import { refusal } from '@bunting/contracts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';

/** @throws Refusal `UsedTokenError` when a user exists, so that no further one may call itself the first */
export const requireNoUser = async ({ users }: Pick<GatewayReads, 'users'>): Promise<void> => {
  if (await users.hasUsers())
    throw refusal('UsedTokenError', 'The first administrator exists already. Ask an administrator for an account.');
};
