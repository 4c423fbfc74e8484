import type { Work } from '../../persistence/unit-of-work.ts';

/** The roles that somebody can have everywhere. */
export const rootRolesOf = async ({ roles }: Pick<Work, 'roles'>) =>
  (await roles.list()).filter(({ type }) => type === 'root' || type === 'root-custom');
