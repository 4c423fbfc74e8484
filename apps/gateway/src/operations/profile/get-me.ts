import { implement } from '@bunting/bus';
import { GetMe } from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { hasAccount } from '../../domain/accounts/accounts.ts';
import type { GatewayContext } from '../../access/context.ts';

export const getMeEndpoint = ({ reads }: GatewayContext) =>
  implement(GetMe, async (request) => {
    const { id, name, grants } = request.caller;
    const common = { permissions: grants, feedback: [], splash: {} };
    const tokenUser = { id, isAPI: true, name, username: name, imageUrl: gravatarUrlOf(name) };
    if (!hasAccount(request.caller)) return { user: tokenUser, ...common };
    const account = await reads.users.find(id);
    if (account === undefined) return { user: tokenUser, ...common };
    const { rootRole: _role, active: _active, ...user } = account;
    return { user, ...common };
  });
