import { implement } from '@bunting/bus';
import { ValidateFirstAdminLink } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { requireNoUser } from './require-no-user.ts';

export const validateFirstAdminLinkEndpoint = ({ transaction }: GatewayContext) =>
  implement(ValidateFirstAdminLink, (request) =>
    transaction(request, async ({ links, users }) => {
      await links.get(request.query.token, 'create-first-admin');
      await requireNoUser(users);
      return null;
    }),
  );
