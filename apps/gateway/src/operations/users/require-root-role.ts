import { invalidProperty } from '@bunting/contracts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';

/** The id of the root role that a property of a body names. @throws Refusal 400 when there is none */
export const requireRootRole = async (
  { roles }: Pick<Transaction, 'roles'>,
  idOrName: number | string,
  path: `/body/${string}` = '/body/rootRole',
): Promise<number> => {
  const id = await roles.findRootRole(idOrName);
  if (id === undefined) throw invalidProperty(`There is no root role ${idOrName}`, path);
  return id;
};
