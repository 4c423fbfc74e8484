import { implement } from '@bunting/bus';
import { ListUserPats } from '@bunting/contracts';
import { listAccountPats } from './manage-account-pats.ts';
import type { GatewayContext } from '../../access/context.ts';

export const listUserPatsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListUserPats, ({ params }) => listAccountPats(reads, 'users', params.id));
