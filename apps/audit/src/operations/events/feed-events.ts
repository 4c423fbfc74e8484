import { implement, JsonText } from '@bunting/bus';
import { FeedEvents, invalid } from '@bunting/contracts';
import { parseEventFilters } from '../../domain/event-query.ts';
import { visibleEvents } from '../../domain/visible-events.ts';
import type { FeedPage } from '../../persistence/search/event-feed.ts';
import type { Criteria } from '../../persistence/search/conditions.ts';
import { describedEventJson, type WaitUntilFresh } from './read-event-page.ts';

/** Serves one page of the feed. Clients continue with `next`. */
export const feedEventsEndpoint = (
  waitUntilFresh: WaitUntilFresh,
  read: (query: Criteria, after: number) => Promise<FeedPage>,
  publicUrl: string,
) =>
  implement(FeedEvents, async ({ query: { after = 0, follow = false, ...filters }, ...request }) => {
    const query = { ...parseEventFilters(filters), textIn: 'data' as const, visible: visibleEvents(request.caller) };
    let page = await read(query, after);
    if (!follow && page.next >= page.head) {
      // A client that reads to the end gets all events that were committed before its request. A client that follows gets events as they arrive.
      await waitUntilFresh(request);
      page = await read(query, after);
    }
    if (after > page.head) {
      const message = `The \`/query/after\` property must be the id of an event: the last one has ${page.head}. You sent ${after}.`;
      throw invalid(message, '/query/after');
    }
    const items = page.events.map(
      (found) =>
        `${describedEventJson(found, query.visible, publicUrl).slice(0, -1)},"hash":${JSON.stringify(found.hash)}}`,
    );
    return new JsonText(`{"items":[${items.join(',')}],"next":${page.next},"atEnd":${page.next >= page.head}}`);
  });
