import { implement } from '@bunting/bus';
import { CreateUser } from '@bunting/contracts';
import { validUserNames } from '../../domain/user-names.ts';
import { requireRootRole } from './root-roles.ts';
import { userEventData } from './user-event.ts';
import type { GatewayContext } from '../context.ts';

export const createUserEndpoint = ({ transaction, signIn }: GatewayContext) =>
  implement(CreateUser, async (request) => {
    const { password } = request.body;
    const hash = password ? await signIn.passwords.hash(password) : undefined;
    return transaction(request, async (tx) => {
      const names = validUserNames(request.body);
      const user = await tx.users.add(names, await requireRootRole(tx, request.body.rootRole), false);
      if (hash !== undefined) await tx.passwords.set(user.id, hash);
      tx.emit({ type: 'user-created', data: userEventData(user) });
      return { ...user, inviteLink: '', emailSent: false };
    });
  });
