import { notFound, type User } from '@bunting/contracts';
import type { Work } from '../../persistence/unit-of-work.ts';
import { noSuchUser } from '../users/change-account.ts';

/** A service account that stays as it is until the end of this work. */
export const requireServiceAccount = async ({ people }: Pick<Work, 'people'>, id: number): Promise<User> => {
  const account = await people.find(id, 'service-accounts');
  if (account === undefined) throw notFound(noSuchUser);
  return account;
};
