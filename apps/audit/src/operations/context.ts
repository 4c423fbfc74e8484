import type { Bus } from '@bunting/bus';
import type { DeadLetter } from '@bunting/contracts';
import type { MissedRange } from '@bunting/outbox';
import type { VisibleEvents } from '../domain/visible-events.ts';
import type { LogSize } from '../persistence/log/log-size.ts';
import type { VerificationOptions, VerificationReport } from '../persistence/log/verify-chain.ts';
import type { Criteria } from '../persistence/search/conditions.ts';
import type { FeedPage } from '../persistence/search/event-feed.ts';
import type { EventCreator } from '../persistence/statistics/event-creators.ts';
import type { ProjectActivity } from '../persistence/statistics/project-activity.ts';
import type { ReadEventPage, WaitUntilFresh } from './events/read-event-page.ts';

/** The dependencies of the operations. */
export interface AuditContext {
  readonly bus: Bus;
  readonly readEventPage: ReadEventPage;
  readonly waitUntilFresh: WaitUntilFresh;
  readonly readFeed: (query: Criteria, after: number) => Promise<FeedPage>;
  readonly creatorsOf: (visible: VisibleEvents) => Promise<EventCreator[]>;
  readonly activityOf: (project: string | undefined, days: number) => Promise<ProjectActivity>;
  readonly logSize: () => Promise<LogSize>;
  /** days after which events are pruned; undefined to prune none */
  readonly retentionDays: number | undefined;
  readonly verifyChain: (options: VerificationOptions) => Promise<VerificationReport>;
  readonly missedMessages: () => Promise<MissedRange[]>;
  /** the events that this service could not append */
  readonly deadLetters: () => Promise<DeadLetter[]>;
  /** where links in summaries begin */
  readonly publicUrl: string;
}
