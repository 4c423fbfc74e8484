import { badRequest } from '../../domain/refusals.ts';
import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';

/** The id of the root role that was named. @throws Refusal 400 when there is none. */
export const requireRootRole = async (
  { roles }: Pick<GatewayTransaction, 'roles'>,
  wanted: number | string,
): Promise<number> => {
  const found = await roles.findRootRoleId(wanted);
  if (found === undefined) throw badRequest(`There is no root role ${wanted}`, '/body/rootRole');
  return found;
};
