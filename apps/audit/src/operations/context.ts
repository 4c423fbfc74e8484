import type { Bus } from '@bunting/bus';
import { type AwaitedProjection, waitUntilFresh } from '@bunting/outbox';
import type { EventLogReaders } from '../persistence/event-log-readers.ts';
import { eventPageReader } from '../search/endpoints.ts';

interface ContextOptions {
  readonly bus: Bus;
  readonly readers: EventLogReaders;
  readonly freshness: AwaitedProjection;
  /** days after which events are pruned; undefined to prune none */
  readonly retentionDays: number | undefined;
  /** the URL of the console, with which links in summaries begin */
  readonly publicUrl: string;
}

/** The dependencies of the operations. */
export const auditContext = ({
  bus,
  readers: { search, ...readers },
  freshness,
  retentionDays,
  publicUrl,
}: ContextOptions) => {
  const waitForLog = waitUntilFresh(freshness);
  return {
    ...readers,
    bus,
    readEventPage: eventPageReader({ waitUntilFresh: waitForLog, search, publicUrl }),
    waitUntilFresh: waitForLog,
    retentionDays,
    publicUrl,
  };
};
export type AuditContext = ReturnType<typeof auditContext>;
