import { implement } from '@bunting/bus';
import { CreateServiceAccount } from '@bunting/contracts';
import { parseUserNames } from '../../access/users/account.ts';
import { accountCreated } from '../../domain/accounts/accounts.ts';
import type { GatewayContext } from '../../access/context.ts';
import { requireRootRole } from '../users/require-root-role.ts';

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
