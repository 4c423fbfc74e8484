import { implement } from '@bunting/bus';
import { SearchUsers } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

/** A single letter would list everybody. */
const shortest = 2;

export const searchUsersEndpoint = ({ transaction }: GatewayContext) =>
  implement(SearchUsers, async (request) => {
    const beginning = request.query.q?.trim() ?? '';
    return beginning.length < shortest ? [] : transaction(request, ({ users }) => users.search(beginning));
  });
