import { implement } from '@bunting/bus';
import { ListServiceAccounts } from '@bunting/contracts';
import { listRootRoles } from '../users/root-roles.ts';
import type { GatewayContext } from '../../access/context.ts';

export const listServiceAccountsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListServiceAccounts, async ({ query }) => {
    const accounts = await reads.users.list('service-accounts', query);
    const tokens = await reads.tokens.listPatsOf(accounts.map(({ id }) => id));
    const serviceAccounts = accounts.map((account) => ({ ...account, tokens: tokens.get(account.id) ?? [] }));
    return { serviceAccounts, rootRoles: await listRootRoles(reads) };
  });
