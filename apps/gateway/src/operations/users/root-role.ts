import { wrong } from '../../domain/refusals.ts';
import type { Work } from '../../persistence/unit-of-work.ts';

/** The id of the root role that was named. @throws Refusal 400 when there is none. */
export const requireRootRole = async ({ roles }: Pick<Work, 'roles'>, wanted: number | string): Promise<number> => {
  const found = await roles.rootRole(wanted);
  if (found === undefined) throw wrong(`There is no root role ${wanted}`, '/body/rootRole');
  return found;
};
