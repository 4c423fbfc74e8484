import { implement } from '@bunting/bus';
import { type Role, refusal, type User, ValidateResetLink } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const validateResetLinkEndpoint = ({ transaction }: GatewayContext) =>
  implement(ValidateResetLink, (request) =>
    transaction(request, async ({ links, users, roles }) => {
      const { token } = request.query;
      const { userId, createdBy } = await links.get(token, 'set-password');
      const user = (await users.find(userId ?? 0, { only: 'users' })) as User;
      if (!user.active) throw refusal('InvalidTokenError', 'The link is not valid, or has expired.');
      const { id, name, email, rootRole } = user;
      const role = (await roles.list()).find((one) => one.id === rootRole) as Role;
      return {
        id,
        ...(name === undefined ? {} : { name }),
        ...(email === undefined ? {} : { email }),
        token,
        createdBy,
        role: { id: role.id, name: role.name, description: role.description, type: role.type },
      };
    }),
  );
