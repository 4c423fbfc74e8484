import { implement } from '@bunting/bus';
import { GetGroup, notFound } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { noSuchGroup } from './no-such-group.ts';

export const getGroupEndpoint = ({ transaction }: GatewayContext) =>
  implement(GetGroup, (request) =>
    transaction(request, async ({ groups }) => {
      const [group] = await groups.list([request.params.id]);
      if (group === undefined) throw notFound(noSuchGroup);
      return group;
    }),
  );
