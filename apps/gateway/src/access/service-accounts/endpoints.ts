import { implement } from '@bunting/bus';
import {
  CreateServiceAccount,
  CreateServiceAccountToken,
  DeleteServiceAccount,
  DeleteServiceAccountToken,
  ListServiceAccounts,
  ListServiceAccountTokens,
  UpdateServiceAccount,
} from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { createAccountPat, deleteAccountPat, listAccountPats } from '../pats/endpoints.ts';
import { accountCreated, parseUserNames } from '../users/account.ts';
import { listRootRoles, removeAccount, requireRootRole, updateAccount } from '../users/endpoints.ts';

export const createServiceAccountTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateServiceAccountToken, (request) =>
    transaction.revealingSecret(request, (tx) => createAccountPat(tx, 'service-accounts', request)),
  );

export const createServiceAccountEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateServiceAccount, (request) =>
    transaction(request, async (tx) => {
      const { username, name, rootRole } = request.body;
      const names = parseUserNames({ username, name: name ?? null });
      const rootRoleId = await requireRootRole(tx, rootRole);
      const account = { accountType: 'Service Account', rootRole: rootRoleId, isActive: true } as const;
      return tx.users.add(names, account, (created) => [accountCreated(created)]);
    }),
  );

export const deleteServiceAccountTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteServiceAccountToken, (request) =>
    transaction(request, (tx) => deleteAccountPat(tx, 'service-accounts', request.params.id, request.params.tokenId)),
  );

export const deleteServiceAccountEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteServiceAccount, (request) =>
    transaction(request, async (tx) =>
      removeAccount(tx, await tx.users.getForUpdate(request.params.id, { only: 'service-accounts' })),
    ),
  );

export const listServiceAccountTokensEndpoint = ({ reads }: GatewayContext) =>
  implement(ListServiceAccountTokens, ({ params }) => listAccountPats(reads, 'service-accounts', params.id));

export const listServiceAccountsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListServiceAccounts, async ({ query }) => {
    const accounts = await reads.users.list('service-accounts', query);
    const tokens = await reads.tokens.listPatsOf(accounts.map(({ id }) => id));
    const serviceAccounts = accounts.map((account) => ({ ...account, tokens: tokens.get(account.id) ?? [] }));
    return { serviceAccounts, rootRoles: await listRootRoles(reads) };
  });

export const updateServiceAccountEndpoint = ({ transaction }: GatewayContext) =>
  implement(UpdateServiceAccount, (request) =>
    transaction(request, async (tx) => {
      const account = await tx.users.getForUpdate(request.params.id, { only: 'service-accounts' });
      return updateAccount(tx, account, request.body);
    }),
  );
