import { implement } from '@bunting/bus';
import { CountAdmins } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const countAdminsEndpoint = ({ transaction }: GatewayContext) =>
  implement(CountAdmins, (request) => transaction(request, ({ users }) => users.countAdmins()));
