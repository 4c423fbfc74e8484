import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';

/** The roles that somebody can have everywhere. */
export const rootRolesOf = async ({ roles }: Pick<GatewayTransaction, 'roles'>) =>
  (await roles.list()).filter(({ type }) => type === 'root' || type === 'root-custom');
