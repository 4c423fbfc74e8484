import { implement } from '@bunting/bus';
import { ListServiceAccountTokens } from '@bunting/contracts';
import { listAccountPats } from '../pats/manage-account-pats.ts';
import type { GatewayContext } from '../../access/context.ts';

export const listServiceAccountTokensEndpoint = ({ reads }: GatewayContext) =>
  implement(ListServiceAccountTokens, ({ params }) => listAccountPats(reads, 'service-accounts', params.id));
