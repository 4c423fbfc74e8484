import { implement } from '@bunting/bus';
import { ListServiceAccounts } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { rootRolesOf } from '../users/user-readings.ts';

export const listServiceAccountsEndpoint = (work: UnitOfWork) =>
  implement(ListServiceAccounts, (asked) =>
    work(asked, async (tx) => {
      const serviceAccounts = [];
      for (const account of await tx.people.list('service-accounts', asked.query))
        serviceAccounts.push({ ...account, tokens: await tx.tokens.pats(account.id) });
      return { serviceAccounts, rootRoles: await rootRolesOf(tx) };
    }),
  );
