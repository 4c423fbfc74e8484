import type { GatewayReads } from '../../unit-of-work/reads.ts';

/** The root roles, which hold in every project. */
export const listRootRoles = async ({ roles }: Pick<GatewayReads, 'roles'>) =>
  (await roles.list()).filter(({ type }) => type === 'root' || type === 'root-custom');
