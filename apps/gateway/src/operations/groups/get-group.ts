import { implement } from '@bunting/bus';
import { GetGroup } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const getGroupEndpoint = ({ reads }: GatewayContext) =>
  implement(GetGroup, ({ params }) => reads.groups.get(params.id));
