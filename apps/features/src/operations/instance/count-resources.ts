import { implement } from '@bunting/bus';
import { CountResources } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const countResourcesEndpoint = ({ countResources }: FeaturesContext) =>
  implement(CountResources, () => countResources());
