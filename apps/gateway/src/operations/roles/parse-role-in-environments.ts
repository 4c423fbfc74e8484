import type { RoleBody } from '@bunting/contracts';
import { parseRole, requireExistingEnvironments, type RoleInput } from '../../access/roles/role.ts';
import type { GatewayContext } from '../../access/context.ts';
import type { DirectoryRequest } from '../../access/rights/directory.ts';

/** Parses a role as `parseRole` does. @throws Refusal 400 also for an environment that does not exist */
export const parseRoleInEnvironments = async (
  { projectAndEnvironmentDirectory }: Pick<GatewayContext, 'projectAndEnvironmentDirectory'>,
  body: RoleBody,
  request: DirectoryRequest,
): Promise<RoleInput> => {
  const role = parseRole(body);
  if (role.permissions.some(({ environment }) => environment !== null))
    requireExistingEnvironments(body, await projectAndEnvironmentDirectory.environments(request));
  return role;
};
