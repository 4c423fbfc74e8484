import { implement } from '@bunting/bus';
import { ValidateFirstAdminLink } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';
import { requireNoUser } from './require-no-user.ts';

export const validateFirstAdminLinkEndpoint = ({ reads }: GatewayContext) =>
  implement(ValidateFirstAdminLink, async ({ query }) => {
    await reads.links.get(query.token, 'create-first-admin');
    await requireNoUser(reads);
    return null;
  });
