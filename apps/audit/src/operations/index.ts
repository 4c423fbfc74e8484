import type { Endpoint } from '@bunting/bus';
import * as endpoints from './all.ts';
import type { AuditContext } from './context.ts';

/** Every endpoint of the service. */
export const auditEndpoints = (context: AuditContext): readonly Endpoint[] =>
  Object.values(endpoints).map((endpoint) => endpoint(context));
