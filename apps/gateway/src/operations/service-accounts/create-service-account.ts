import { implement } from '@bunting/bus';
import { CreateServiceAccount } from '@bunting/contracts';
import { parseUserNames } from '../../domain/accounts/user-names.ts';
import { accountCreated } from '../../domain/accounts/users.ts';
import type { GatewayContext } from '../context.ts';
import { requireRootRole } from '../users/require-root-role.ts';

export const createServiceAccountEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateServiceAccount, (request) =>
    transaction(request, async (tx) => {
      const { username, name, rootRole } = request.body;
      const account = await tx.users.add(parseUserNames({ username, name: name ?? null }), {
        accountType: 'Service Account',
        rootRole: await requireRootRole(tx, rootRole),
        isActive: true,
      });
      tx.events.emit([accountCreated(account)]);
      return account;
    }),
  );
