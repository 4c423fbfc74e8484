import type { Bus, Endpoint } from '@bunting/bus';
import type { ReadDatabase } from '@bunting/database';
import type { TimedRequest } from '@bunting/outbox';
import { logEndpoints } from './log/endpoints.ts';
import { searchEndpoints } from './search/endpoints.ts';
import { statisticsEndpoints } from './statistics/endpoints.ts';
/** The dependencies of the operations. */
export interface AuditContext {
  readonly bus: Bus;
  readonly database: ReadDatabase;
  /** waits until the log has what was committed before the request, within its deadline */
  readonly waitUntilFresh: (request: TimedRequest) => Promise<void>;
  /** days after which events are pruned; undefined to prune none */
  readonly retentionDays: number | undefined;
  /** the URL of the console, with which links in summaries begin */
  readonly publicUrl: string;
}

/** Every endpoint of the service. */
export function auditEndpoints(context: AuditContext): readonly Endpoint[] {
  return [...searchEndpoints(context), ...logEndpoints(context), ...statisticsEndpoints(context)];
}
