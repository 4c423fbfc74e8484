import { implement } from '@bunting/bus';
import { GetMe, imageUrlOf } from '@bunting/contracts';
import { isSomebody } from '../../domain/access.ts';
import type { GatewayContext } from '../context.ts';

export const getMeEndpoint = ({ work }: GatewayContext) =>
  implement(GetMe, async (asked) => {
    const { id, name, grants } = asked.caller;
    const known = { permissions: grants, feedback: [], splash: {} };
    const token = { id, isAPI: true, name, username: name, imageUrl: imageUrlOf(name) };
    if (!isSomebody(asked.caller)) return { user: token, ...known };
    return work(asked, async ({ people }) => {
      const found = await people.read(id);
      if (found === undefined) return { user: token, ...known };
      const { rootRole: _role, active: _active, ...user } = found;
      return { user, ...known };
    });
  });
