import { implement } from '@bunting/bus';
import { ListServiceAccounts } from '@bunting/contracts';
import { rootRolesOf } from '../users/root-roles.ts';
import type { GatewayContext } from '../context.ts';

export const listServiceAccountsEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListServiceAccounts, (request) =>
    transaction(request, async (tx) => {
      const serviceAccounts = [];
      for (const account of await tx.users.list('service-accounts', request.query))
        serviceAccounts.push({ ...account, tokens: await tx.tokens.listPats(account.id) });
      return { serviceAccounts, rootRoles: await rootRolesOf(tx) };
    }),
  );
