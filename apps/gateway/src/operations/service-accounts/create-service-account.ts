import { implement } from '@bunting/bus';
import { CreateServiceAccount } from '@bunting/contracts';
import { namesOf } from '../../domain/user-names.ts';
import { requireRootRole } from '../users/root-role.ts';
import { toldUser } from '../users/user-event.ts';
import type { GatewayContext } from '../context.ts';

export const createServiceAccountEndpoint = ({ work }: GatewayContext) =>
  implement(CreateServiceAccount, (request) =>
    work(request, async (tx) => {
      const { username, name, rootRole } = request.body;
      const account = await tx.people.add(
        namesOf({ username, name: name ?? null }),
        await requireRootRole(tx, rootRole),
        true,
      );
      tx.tell({ type: 'service-account-created', data: toldUser(account) });
      return account;
    }),
  );
