import { implement } from '@bunting/bus';
import { ListServiceAccounts, ListServiceAccountTokens, notFound } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { noSuchUser } from '../users/change-account.ts';
import { rootRolesOf } from '../users/user-readings.ts';

export const listServiceAccountsEndpoint = (work: UnitOfWork) =>
  implement(ListServiceAccounts, (asked) =>
    work(asked, async (tx) => {
      const serviceAccounts = [];
      for (const account of await tx.people.list('service-accounts'))
        serviceAccounts.push({ ...account, tokens: await tx.tokens.pats(account.id) });
      return { serviceAccounts, rootRoles: await rootRolesOf(tx) };
    }),
  );

export const listServiceAccountTokensEndpoint = (work: UnitOfWork) =>
  implement(ListServiceAccountTokens, (asked) =>
    work(asked, async (tx) => {
      const account = await tx.people.read(asked.params.id, 'service-accounts');
      if (account === undefined) throw notFound(noSuchUser);
      return { pats: await tx.tokens.pats(account.id) };
    }),
  );
