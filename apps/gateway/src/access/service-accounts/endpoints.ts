import { type Endpoint, implement, onBehalfOf, writes } from '@bunting/bus';
import {
  CreateServiceAccount,
  CreateServiceAccountToken,
  DeleteServiceAccount,
  DeleteServiceAccountToken,
  ExecuteAction,
  ListServiceAccounts,
  ListServiceAccountTokens,
  UpdateServiceAccount,
} from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { createAccountPat, deleteAccountPat, listAccountPats } from '../pats/endpoints.ts';
import { accountCreated, parseUserNames } from '../users/account.ts';
import { executeAction } from './execute-action.ts';
import { listRootRoles, removeAccount, requireRootRole, updateAccount } from '../users/endpoints.ts';

export function serviceAccountEndpoints({ transaction, reads, bus }: GatewayContext): readonly Endpoint[] {
  return [
    implement(CreateServiceAccountToken, (request) =>
      transaction.revealingSecret(request, (tx) => createAccountPat(tx, 'service-accounts', request)),
    ),
    writes(CreateServiceAccount, transaction, async (tx, { body }) => {
      const { username, name, rootRole } = body;
      const names = parseUserNames({ username, name: name ?? null });
      const rootRoleId = await requireRootRole(tx, rootRole);
      const account = { accountType: 'Service Account', rootRole: rootRoleId, isActive: true } as const;
      return tx.users.add(names, account, (created) => [accountCreated(created)]);
    }),
    writes(DeleteServiceAccountToken, transaction, (tx, { params }) =>
      deleteAccountPat(tx, 'service-accounts', params.id, params.tokenId),
    ),
    writes(DeleteServiceAccount, transaction, async (tx, { params }) =>
      removeAccount(tx, await tx.users.getForUpdate(params.id, { only: 'service-accounts' })),
    ),
    // Whoever calls this names an account, and never a person: its rights are those that it has now.
    implement(ExecuteAction, async (request) => {
      const action = request.body;
      const [account] = await reads.access.usersWithRights([action.accountId]);
      if (account?.caller.isService !== true) {
        const refusal = 'The service account does not exist any more, or is disabled.';
        return { by: null, refusal, details: '' };
      }
      const { caller } = account;
      return {
        by: { id: caller.id, name: caller.name },
        ...(await executeAction(bus, caller, action, onBehalfOf(request))),
      };
    }),
    implement(ListServiceAccountTokens, ({ params }) => listAccountPats(reads, 'service-accounts', params.id)),
    implement(ListServiceAccounts, async ({ query }) => {
      const accounts = await reads.users.list('service-accounts', query);
      const tokens = await reads.tokens.listPatsOf(accounts.map(({ id }) => id));
      const serviceAccounts = accounts.map((account) => ({ ...account, tokens: tokens.get(account.id) ?? [] }));
      return { serviceAccounts, rootRoles: await listRootRoles(reads) };
    }),
    writes(UpdateServiceAccount, transaction, async (tx, { params, body }) => {
      const account = await tx.users.getForUpdate(params.id, { only: 'service-accounts' });
      return updateAccount(tx, account, body);
    }),
  ];
}
