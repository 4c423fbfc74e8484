import { implement } from '@bunting/bus';
import { ValidateFirstLink } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { requireNoUser } from './require-no-user.ts';

export const validateFirstLinkEndpoint = ({ transaction }: GatewayContext) =>
  implement(ValidateFirstLink, (request) =>
    transaction(request, async ({ links, users }) => {
      await links.get(request.query.token, 'first');
      await requireNoUser(users);
      return null;
    }),
  );
