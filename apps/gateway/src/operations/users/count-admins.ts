import { implement } from '@bunting/bus';
import { CountAdmins } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const countAdminsEndpoint = ({ work }: GatewayContext) =>
  implement(CountAdmins, (request) => work(request, ({ people }) => people.countAdmins()));
