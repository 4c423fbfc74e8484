import { implement } from '@bunting/bus';
import { SearchUsers } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

/** A shorter prefix would match nearly every user. */
const minPrefixLength = 2;

export const searchUsersEndpoint = ({ transaction }: GatewayContext) =>
  implement(SearchUsers, async (request) => {
    const prefix = request.query.q?.trim() ?? '';
    return prefix.length < minPrefixLength ? [] : transaction(request, ({ users }) => users.search(prefix));
  });
