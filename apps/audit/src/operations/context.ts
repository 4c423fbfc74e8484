import type { Bus } from '@bunting/bus';
import type { Readers } from '../persistence/readers.ts';
import { eventPages, type Freshness, waitUntilFresh } from './events/read-event-page.ts';

interface ContextOptions {
  readonly bus: Bus;
  readonly readers: Readers;
  readonly freshness: Freshness;
  /** days after which events are pruned; undefined to prune none */
  readonly retentionDays: number | undefined;
  /** where links in summaries begin */
  readonly publicUrl: string;
}

/** The dependencies of the operations. */
export const auditContext = ({
  bus,
  readers: { search, ...readers },
  freshness,
  retentionDays,
  publicUrl,
}: ContextOptions) => ({
  ...readers,
  bus,
  readEventPage: eventPages({ ...freshness, search, publicUrl }),
  waitUntilFresh: waitUntilFresh(freshness),
  retentionDays,
  publicUrl,
});
export type AuditContext = ReturnType<typeof auditContext>;
