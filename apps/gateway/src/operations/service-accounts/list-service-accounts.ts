import { implement } from '@bunting/bus';
import { ListServiceAccounts } from '@bunting/contracts';
import { rootRolesOf } from '../users/root-roles.ts';
import type { GatewayContext } from '../context.ts';

export const listServiceAccountsEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListServiceAccounts, (request) =>
    transaction(request, async (tx) => {
      const accounts = await tx.users.list('service-accounts', request.query);
      const tokens = await tx.tokens.listPatsOf(accounts.map(({ id }) => id));
      const serviceAccounts = accounts.map((account) => ({ ...account, tokens: tokens.get(account.id) ?? [] }));
      return { serviceAccounts, rootRoles: await rootRolesOf(tx) };
    }),
  );
