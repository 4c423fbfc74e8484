import { implement } from '@bunting/bus';
import { CountResources } from '@bunting/contracts';
import type { ResourceCounter } from '../../persistence/resource-counter.ts';

export const countResourcesEndpoint = (count: ResourceCounter) => implement(CountResources, () => count());
