import { implement } from '@bunting/bus';
import { GetGroup } from '@bunting/contracts';
import { groupNotFound } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';

export const getGroupEndpoint = ({ transaction }: GatewayContext) =>
  implement(GetGroup, (request) =>
    transaction(request, async ({ groups }) => {
      const [group] = await groups.list([request.params.id]);
      if (group === undefined) throw groupNotFound();
      return group;
    }),
  );
