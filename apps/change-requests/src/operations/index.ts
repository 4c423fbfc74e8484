import type { Endpoint } from '@bunting/bus';
import * as endpoints from './all.ts';
import type { ChangeRequestsContext } from './context.ts';

/** Every endpoint of the service. */
export const changeRequestsEndpoints = (context: ChangeRequestsContext): readonly Endpoint[] =>
  Object.values(endpoints).map((endpoint) => endpoint(context));
