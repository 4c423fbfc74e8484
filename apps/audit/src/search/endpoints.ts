import { type Endpoint, implement, JsonText } from '@bunting/bus';
import {
  additionalEventTypes,
  type Caller,
  DeprecatedSearchEvents,
  FeedEvents,
  FindEventLogPosition,
  ListNewestEvents,
  ListNewestEventsOfFeature,
  ReadEventLog,
  requireStorableText,
  SearchEvents,
} from '@bunting/contracts';
import { parsePage } from '@bunting/contracts/validation';
import { type TimedRequest } from '@bunting/outbox';
import type { AuditContext } from '../endpoints.ts';
import {
  type EventVisibility,
  eventVisibilityOf,
  parseEventFilters,
  requireAfterNotBeyondLog,
  withoutHiddenProject,
} from './event-filters.ts';
import { eventFeed, type PageRequest } from './feed-store.ts';
import { logFollower } from './follow-store.ts';
import { descriptionJson, type FoundEvent } from './event-store.ts';
import { type EventCriteria, eventSearch } from './search-store.ts';

export function searchEndpoints({ database, waitUntilFresh, publicUrl }: AuditContext): readonly Endpoint[] {
  const search = eventSearch(database);
  const readFeed = eventFeed(database);
  const follower = logFollower(database);
  const jsonOf = eventJson(publicUrl);

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
    return { events: events.map((event) => jsonOf(event, visible, omitsGroup)), total };
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
        (found) => `${jsonOf(found, query.visible).slice(0, -1)},"hash":${JSON.stringify(found.hash)}}`,
      );
      return new JsonText(`{"items":[${items.join(',')}],"next":${page.next},"atEnd":${page.next >= page.head}}`);
    }),

    implement(ReadEventLog, async ({ body: { after, limit, waitsForCommits, omitsDescriptions }, ...request }) => {
      if (waitsForCommits === true) await waitUntilFresh(request);
      const page = await follower.readAfter(after, limit);
      const events = page.events.map((found) => {
        const entry = `{"uid":"${found.uid}","hash":"${found.hash}","event":`;
        if (omitsDescriptions === true) return `${entry}${found.undescribed()},${found.groupJson}}}`;
        const { otherProjects: projects } = found.described(publicUrl);
        const event = jsonOf(found, everything);
        if (projects.length === 0) return `${entry}${event}}`;
        const limited = jsonOf(found, { ...everything, hiddenProjects: projects });
        return `${entry}${event},"limited":{"projects":${JSON.stringify(projects)},"event":${limited}}}`;
      });
      const { head, headHash, at } = page;
      return new JsonText(`${JSON.stringify({ head, headHash, at }).slice(0, -1)},"events":[${events.join(',')}]}`);
    }),

    implement(FindEventLogPosition, async ({ body: { since }, ...request }) => {
      await waitUntilFresh(request);
      return { after: await follower.positionAt(new Date(since)) };
    }),
  ];
}

/** The visibility of services that act for no user. */
const everything: EventVisibility = { ofNoProject: true, hiddenProjects: [] };

/**
 * Returns a function for the JSON text of an event with label, summary and group, without members that are hidden from the caller.
 * @param publicUrl begins the links of summaries
 */
function eventJson(publicUrl: string) {
  /** @param omitsGroup for clients that do not know the group */
  return (found: FoundEvent, visible: EventVisibility, omitsGroup = false): string => {
    const { content, otherProjects } = found.described(publicUrl);
    const group = omitsGroup ? '' : `,${found.groupJson}`;
    if (!otherProjects.some((project) => visible.hiddenProjects.includes(project))) return `${content}${group}}`;
    const visibleEvent = withoutHiddenProject(found.parse(), visible);
    return `${JSON.stringify(visibleEvent).slice(0, -1)}${descriptionJson(visibleEvent, publicUrl)}${group}}`;
  };
}

/** A list of one value, or undefined for undefined. */
function optionalList<T>(value: T | undefined): readonly T[] | undefined {
  return value === undefined ? undefined : [value];
}
