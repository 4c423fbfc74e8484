import type { Endpoint } from '@bunting/bus';
import * as endpoints from './all.ts';
import type { FeaturesContext } from './context.ts';

/** Every endpoint of the service. */
export const featuresEndpoints = (context: FeaturesContext): readonly Endpoint[] =>
  Object.values(endpoints).map((endpoint) => endpoint(context));
