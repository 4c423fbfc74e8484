import { implement } from '@bunting/bus';
import { GetGroup, notFound } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { noSuchGroup } from './no-such-group.ts';

export const getGroupEndpoint = ({ work }: GatewayContext) =>
  implement(GetGroup, (asked) =>
    work(asked, async ({ groups }) => {
      const [group] = await groups.list([asked.params.id]);
      if (group === undefined) throw notFound(noSuchGroup);
      return group;
    }),
  );
