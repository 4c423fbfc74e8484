import { implement } from '@bunting/bus';
import { CreateUser } from '@bunting/contracts';
import { namesOf } from '../../domain/user-names.ts';
import { requireRootRole } from './root-role.ts';
import { toldUser } from './user-event.ts';
import type { GatewayContext } from '../context.ts';

export const createUserEndpoint = ({ work }: GatewayContext) =>
  implement(CreateUser, (request) =>
    work(request, async (tx) => {
      const names = namesOf(request.body);
      const user = await tx.people.add(names, await requireRootRole(tx, request.body.rootRole), false);
      tx.tell({ type: 'user-created', data: toldUser(user) });
      return { ...user, inviteLink: '', emailSent: false };
    }),
  );
