import { implement } from '@bunting/bus';
import { CountAdmins } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const countAdminsEndpoint = ({ reads }: GatewayContext) =>
  implement(CountAdmins, () => reads.users.countAdmins());
