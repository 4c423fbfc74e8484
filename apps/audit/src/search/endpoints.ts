import type { Caller } from '@bunting/contracts';
import type { TimedRequest } from '@bunting/outbox';
import { describeEvent } from './describe-event.ts';
import { withoutHiddenProject, type EventVisibility, eventVisibilityOf } from '../domain/event-visibility.ts';
import type { EventCriteria } from '../persistence/search/search-conditions.ts';
import type { EventSearch, FoundEvent } from './search-store.ts';
import type { PageRequest } from './feed-store.ts';

interface EventPageReaderOptions {
  readonly waitUntilFresh: (request: TimedRequest) => Promise<void>;
  readonly search: EventSearch;
  /** the URL of the console, with which links in summaries begin */
  readonly publicUrl: string;
}

/** The part of a call's context that event operations use. */
export interface EventRequestContext extends TimedRequest {
  readonly caller: Caller;
}

export interface EventPageJson {
  /** the events of the page as JSON texts, with labels and summaries, the newest first */
  readonly events: readonly string[];
  readonly total: number;
}

/**
 * The event as JSON text with label, summary and group, without members that are hidden from the caller.
 * @param omitsGroup for clients that do not know the group
 */
export const describedEventJson = (
  { json, event, groupJson }: FoundEvent,
  visible: EventVisibility,
  publicUrl: string,
  omitsGroup = false,
): string => {
  const visibleEvent = withoutHiddenProject(event, visible);
  const { label, summary } = describeEvent(visibleEvent, publicUrl);
  const content = (visibleEvent === event ? json : JSON.stringify(visibleEvent)).slice(0, -1);
  const group = omitsGroup ? '' : `,${groupJson}`;
  return `${content},"label":${JSON.stringify(label)},"summary":${JSON.stringify(summary)}${group}}`;
};

/** A list of one value, or undefined for undefined. */
export const optionalList = <T>(value: T | undefined): readonly T[] | undefined =>
  value === undefined ? undefined : [value];

/** Reads pages of matching events that the caller may see, after the log has caught up. */
export const eventPageReader =
  ({ waitUntilFresh, search, publicUrl }: EventPageReaderOptions) =>
  async (
    request: EventRequestContext,
    query: Omit<EventCriteria, 'visible'>,
    page: Partial<PageRequest>,
    omitsGroup = false,
  ): Promise<EventPageJson> => {
    await waitUntilFresh(request);
    const visible = eventVisibilityOf(request.caller);
    const { events, total } = await search.find(
      { ...query, visible },
      { from: Number.MAX_SAFE_INTEGER, limit: 100, ...page },
      request.deadline,
    );
    return { events: events.map((event) => describedEventJson(event, visible, publicUrl, omitsGroup)), total };
  };
