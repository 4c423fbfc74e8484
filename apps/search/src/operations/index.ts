import type { Endpoint } from '@bunting/bus';
import * as endpoints from './all.ts';
import type { SearchContext } from './context.ts';

/** Every endpoint of the service. */
export const searchEndpoints = (context: SearchContext): readonly Endpoint[] =>
  Object.values(endpoints).map((endpoint) => endpoint(context));
