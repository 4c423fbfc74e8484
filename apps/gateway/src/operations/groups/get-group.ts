import { implement } from '@bunting/bus';
import { GetGroup } from '@bunting/contracts';
import { groupNotFound } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';

export const getGroupEndpoint = ({ reads }: GatewayContext) =>
  implement(GetGroup, async ({ params }) => {
    const [group] = await reads.groups.list([params.id]);
    if (group === undefined) throw groupNotFound();
    return group;
  });
