import { implement } from '@bunting/bus';
import { GetMe } from '@bunting/contracts';
import { imageUrlOf } from '@bunting/contracts/hashing';
import { isSomebody } from '../../domain/token-scope.ts';
import type { GatewayContext } from '../context.ts';

export const getMeEndpoint = ({ work }: GatewayContext) =>
  implement(GetMe, async (request) => {
    const { id, name, grants } = request.caller;
    const known = { permissions: grants, feedback: [], splash: {} };
    const token = { id, isAPI: true, name, username: name, imageUrl: imageUrlOf(name) };
    if (!isSomebody(request.caller)) return { user: token, ...known };
    return work(request, async ({ people }) => {
      const found = await people.read(id);
      if (found === undefined) return { user: token, ...known };
      const { rootRole: _role, active: _active, ...user } = found;
      return { user, ...known };
    });
  });
