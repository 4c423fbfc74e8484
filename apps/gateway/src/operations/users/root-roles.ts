import { badRequest } from '../../domain/refusals.ts';
import type { GatewayReads } from '../../persistence/reads.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** The id of a root role, by its id or name. @throws Refusal 400 when there is none */
export const requireRootRole = async (
  { roles }: Pick<Transaction, 'roles'>,
  wanted: number | string,
): Promise<number> => {
  const found = await roles.findRootRoleId(wanted);
  if (found === undefined) throw badRequest(`There is no root role ${wanted}`, '/body/rootRole');
  return found;
};

/** The roles that hold in every project. */
export const listRootRoles = async ({ roles }: Pick<GatewayReads, 'roles'>) =>
  (await roles.list()).filter(({ type }) => type === 'root' || type === 'root-custom');
