import { type Endpoint, implement, JsonText } from '@bunting/bus';
import {
  additionalEventTypes,
  type Caller,
  DeprecatedSearchEvents,
  FeedEvents,
  ListNewestEvents,
  ListNewestEventsOfFeature,
  requireStorableText,
  SearchEvents,
} from '@bunting/contracts';
import { parsePage } from '@bunting/contracts/validation';
import { type TimedRequest } from '@bunting/outbox';
import type { AuditContext } from '../endpoints.ts';
import { describeEvent } from './describe-event.ts';
import {
  type EventVisibility,
  eventVisibilityOf,
  parseEventFilters,
  requireAfterNotBeyondLog,
  withoutHiddenProject,
} from './event-filters.ts';
import { eventFeed, type PageRequest } from './feed-store.ts';
import { type EventCriteria, eventSearch, type FoundEvent } from './search-store.ts';

export function searchEndpoints({ database, waitUntilFresh, publicUrl }: AuditContext): readonly Endpoint[] {
  const search = eventSearch(database);
  const readFeed = eventFeed(database);

  /** Reads the matching events that the caller may see, the newest first, after the log has caught up: as JSON texts, and their total. */
  async function readEventPage(
    request: TimedRequest & { readonly caller: Caller },
    query: Omit<EventCriteria, 'visible'>,
    page: Partial<PageRequest>,
    omitsGroup = false,
  ): Promise<{ readonly events: readonly string[]; readonly total: number }> {
    await waitUntilFresh(request);
    const visible = eventVisibilityOf(request.caller);
    const { events, total } = await search.find(
      { ...query, visible },
      { from: Number.MAX_SAFE_INTEGER, limit: 100, ...page },
      request.deadline,
    );
    return { events: events.map((event) => describedEventJson(event, visible, publicUrl, omitsGroup)), total };
  }

  return [
    implement(SearchEvents, async ({ query, ...request }) => {
      const { offset: skip, limit } = parsePage(query);
      const filters = { ...parseEventFilters(query), textIn: 'data' as const };
      const { events, total } = await readEventPage(request, filters, { skip, limit });
      return new JsonText(`{"events":[${events.join(',')}],"total":${total}}`);
    }),

    implement(DeprecatedSearchEvents, async ({ body, ...request }) => {
      requireStorableText(body, '/body');
      const { type, project, feature, query, limit = 100, offset = 0 } = body;
      const { events, total } = await readEventPage(
        request,
        {
          types: optionalList(type),
          excludedTypes: type === undefined ? additionalEventTypes : undefined,
          projects: optionalList(project),
          features: optionalList(feature),
          text: query,
        },
        { from: offset === 0 ? Number.MAX_SAFE_INTEGER : offset, limit },
        true,
      );
      return new JsonText(`{"version":1,"events":[${events.join(',')}],"totalEvents":${total}}`);
    }),

    implement(ListNewestEvents, async ({ query: { project }, ...request }) => {
      const { events, total } = await readEventPage(request, { projects: optionalList(project) }, {});
      return new JsonText(`{"version":1,"events":[${events.join(',')}],"totalEvents":${total}}`);
    }),

    implement(ListNewestEventsOfFeature, async ({ params: { featureName }, ...request }) => {
      const { events, total } = await readEventPage(request, { features: [featureName] }, {});
      const name = JSON.stringify(featureName);
      return new JsonText(`{"version":1,"toggleName":${name},"events":[${events.join(',')}],"totalEvents":${total}}`);
    }),

    // Serves one page of the feed. Clients continue with `next`.
    implement(FeedEvents, async ({ query: { after = 0, follow = false, ...filters }, ...request }) => {
      const query = {
        ...parseEventFilters(filters),
        textIn: 'data' as const,
        visible: eventVisibilityOf(request.caller),
      };
      let page = await readFeed(query, after);
      if (!follow && page.next >= page.head) {
        // A client that reads to the end gets all events that were committed before its request; one that follows, events as they arrive.
        await waitUntilFresh(request);
        page = await readFeed(query, after);
      }
      requireAfterNotBeyondLog(after, page.head);
      const items = page.events.map(
        (found) =>
          `${describedEventJson(found, query.visible, publicUrl).slice(0, -1)},"hash":${JSON.stringify(found.hash)}}`,
      );
      return new JsonText(`{"items":[${items.join(',')}],"next":${page.next},"atEnd":${page.next >= page.head}}`);
    }),
  ];
}

/**
 * The event as JSON text with label, summary and group, without members that are hidden from the caller.
 * @param omitsGroup for clients that do not know the group
 */
function describedEventJson(
  { json, event, groupJson }: FoundEvent,
  visible: EventVisibility,
  publicUrl: string,
  omitsGroup = false,
): string {
  const visibleEvent = withoutHiddenProject(event, visible);
  const { label, summary } = describeEvent(visibleEvent, publicUrl);
  const content = (visibleEvent === event ? json : JSON.stringify(visibleEvent)).slice(0, -1);
  const group = omitsGroup ? '' : `,${groupJson}`;
  return `${content},"label":${JSON.stringify(label)},"summary":${JSON.stringify(summary)}${group}}`;
}

/** A list of one value, or undefined for undefined. */
function optionalList<T>(value: T | undefined): readonly T[] | undefined {
  return value === undefined ? undefined : [value];
}
