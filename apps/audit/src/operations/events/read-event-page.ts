import type { Caller } from '@bunting/contracts';
import { describeEvent } from '../../domain/description.ts';
import { withoutHiddenProject, type EventVisibility, eventVisibilityOf } from '../../domain/event-visibility.ts';
import type { Criteria } from '../../persistence/search/conditions.ts';
import type { EventSearch, FoundEvent } from '../../persistence/search/event-search.ts';
import type { PageRequest } from '../../persistence/search/event-rows.ts';

/** How long operations wait until the log is fresh. */
export interface Freshness {
  /** waits up to `timeoutMs` until the log is fresh; resolves with the milliseconds by which it is stale */
  readonly catchUp: (timeoutMs: number) => Promise<number>;
  readonly freshnessWaitMs: number;
}

interface EventPagesOptions extends Freshness {
  readonly search: EventSearch;
  /** where links in summaries begin */
  readonly publicUrl: string;
}

/** The part of a call's context that event operations use. */
export interface EventRequestContext {
  readonly caller: Caller;
  readonly now: Date;
  readonly deadline: Date;
  readonly setHeader: (header: string, value: string) => void;
}

export interface EventPageJson {
  /** the events of the page as JSON texts, with labels and summaries, the newest first */
  readonly events: readonly string[];
  readonly total: number;
}

/** The part of the deadline that is reserved for the search, after the wait for fresh events. */
const searchTimeMs = 250;

/** The event as JSON text with label and summary, without members that are hidden from the caller. */
export const describedEventJson = (
  { json, event }: FoundEvent,
  visible: EventVisibility,
  publicUrl: string,
): string => {
  const seen = withoutHiddenProject(event, visible);
  const { label, summary } = describeEvent(seen, publicUrl);
  return `${(seen === event ? json : JSON.stringify(seen)).slice(0, -1)},"label":${JSON.stringify(label)},"summary":${JSON.stringify(summary)}}`;
};

/** A list of one value, or undefined for undefined. */
export const optionalList = <T>(value: T | undefined): readonly T[] | undefined =>
  value === undefined ? undefined : [value];

/** Waits until the log is fresh, within the deadline. Sets `Bunting-Stale` when it is not. */
export const waitUntilFresh =
  ({ catchUp, freshnessWaitMs }: Freshness) =>
  async ({ now, deadline, setHeader }: EventRequestContext): Promise<void> => {
    const remainingMs = deadline.getTime() - now.getTime() - searchTimeMs;
    const behindMs = await catchUp(Math.max(0, Math.min(freshnessWaitMs, remainingMs)));
    if (behindMs > 0) setHeader('Bunting-Stale', String(behindMs));
  };

/** Reads pages of matching events that the caller may see, after the log has caught up. */
export const eventPages = ({ search, publicUrl, ...log }: EventPagesOptions) => {
  const waitForLog = waitUntilFresh(log);
  return async (
    request: EventRequestContext,
    query: Omit<Criteria, 'visible'>,
    page: Partial<PageRequest>,
  ): Promise<EventPageJson> => {
    await waitForLog(request);
    const visible = eventVisibilityOf(request.caller);
    const { events, total } = await search.find(
      { ...query, visible },
      { from: Number.MAX_SAFE_INTEGER, limit: 100, ...page },
      request.deadline,
    );
    return { events: events.map((event) => describedEventJson(event, visible, publicUrl)), total };
  };
};
