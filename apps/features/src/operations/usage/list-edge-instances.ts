import { implement, JsonText } from '@bunting/bus';
import { ListEdgeInstances } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listEdgeInstancesEndpoint = ({ listEdgeInstances }: FeaturesContext) =>
  implement(ListEdgeInstances, async () => new JsonText(await listEdgeInstances()));
