import { implement } from '@bunting/bus';
import { SearchUsers } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

/** A shorter prefix would match nearly every user. */
const minPrefixLength = 2;

export const searchUsersEndpoint = ({ reads }: GatewayContext) =>
  implement(SearchUsers, async ({ query }) => {
    const prefix = query.q?.trim() ?? '';
    return prefix.length < minPrefixLength ? [] : reads.users.search(prefix);
  });
