import { implement } from '@bunting/bus';
import { type Role, ValidateResetLink } from '@bunting/contracts';
import { invalidLink } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';

export const validateResetLinkEndpoint = ({ reads }: GatewayContext) =>
  implement(ValidateResetLink, async ({ query: { token } }) => {
    const { userId, createdBy } = await reads.links.get(token, 'set-password');
    const user = await reads.users.find(userId, { only: 'users' });
    if (user?.active !== true) throw invalidLink('set-password');
    const { id, name, email, rootRole } = user;
    const role = (await reads.roles.list()).find((one) => one.id === rootRole) as Role;
    return {
      id,
      ...(name === undefined ? {} : { name }),
      ...(email === undefined ? {} : { email }),
      token,
      createdBy,
      role: { id: role.id, name: role.name, description: role.description, type: role.type },
    };
  });
