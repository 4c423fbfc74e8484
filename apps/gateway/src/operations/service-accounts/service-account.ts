import { notFound, type User } from '@bunting/contracts';
import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';
import { noSuchUser } from '../users/change-account.ts';

/** A service account that stays as it is until the end of this work. */
export const requireServiceAccount = async (
  { users }: Pick<GatewayTransaction, 'users'>,
  id: number,
): Promise<User> => {
  const account = await users.findForUpdate(id, 'service-accounts');
  if (account === undefined) throw notFound(noSuchUser);
  return account;
};
