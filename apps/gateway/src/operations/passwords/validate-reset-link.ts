import { implement } from '@bunting/bus';
import { ValidateResetLink } from '@bunting/contracts';
import { invalidLink } from '../../access/refusals.ts';
import { roleWithId } from '../../access/roles/role.ts';
import type { GatewayContext } from '../../access/context.ts';

export const validateResetLinkEndpoint = ({ reads }: GatewayContext) =>
  implement(ValidateResetLink, async ({ query: { token } }) => {
    const { userId, createdBy } = await reads.links.get(token, 'set-password');
    const user = await reads.users.find(userId, { only: 'users' });
    if (user?.active !== true) throw invalidLink('set-password');
    const { id, name, email, rootRole } = user;
    const role = roleWithId(await reads.roles.list(), rootRole);
    return {
      id,
      ...(name === undefined ? {} : { name }),
      ...(email === undefined ? {} : { email }),
      token,
      createdBy,
      role: { id: role.id, name: role.name, description: role.description, type: role.type },
    };
  });
