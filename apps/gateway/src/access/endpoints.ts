import type { Endpoint } from '@bunting/bus';
import * as endpoints from './all.ts';
import type { GatewayContext } from './context.ts';

/** Every endpoint of the service. */
export const gatewayEndpoints = (context: GatewayContext): readonly Endpoint[] =>
  Object.values(endpoints).map((endpoint) => endpoint(context));
