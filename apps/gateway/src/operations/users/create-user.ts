import { implement } from '@bunting/bus';
import { CreateUser } from '@bunting/contracts';
import { validUserNames } from '../../domain/user-names.ts';
import { requireRootRole } from './root-roles.ts';
import { userEventData } from './user-event.ts';
import type { GatewayContext } from '../context.ts';

export const createUserEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateUser, (request) =>
    transaction(request, async (tx) => {
      const names = validUserNames(request.body);
      const user = await tx.users.add(names, await requireRootRole(tx, request.body.rootRole), false);
      tx.emit({ type: 'user-created', data: userEventData(user) });
      return { ...user, inviteLink: '', emailSent: false };
    }),
  );
