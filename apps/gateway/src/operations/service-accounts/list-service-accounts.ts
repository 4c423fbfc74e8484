import { implement } from '@bunting/bus';
import { ListServiceAccounts } from '@bunting/contracts';
import { rootRolesOf } from '../users/root-roles.ts';
import type { GatewayContext } from '../context.ts';

export const listServiceAccountsEndpoint = ({ work }: GatewayContext) =>
  implement(ListServiceAccounts, (request) =>
    work(request, async (tx) => {
      const serviceAccounts = [];
      for (const account of await tx.people.list('service-accounts', request.query))
        serviceAccounts.push({ ...account, tokens: await tx.tokens.pats(account.id) });
      return { serviceAccounts, rootRoles: await rootRolesOf(tx) };
    }),
  );
