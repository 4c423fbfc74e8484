import { implement, JsonText } from '@bunting/bus';
import { FeedEvents } from '@bunting/contracts';
import { parseEventFilters } from '../../search/event-filters.ts';
import { requireAfterNotBeyondLog } from '../../domain/require-valid-bounds.ts';
import { eventVisibilityOf } from '../../domain/event-visibility.ts';
import type { AuditContext } from '../context.ts';
import { describedEventJson } from '../../search/endpoints.ts';

/** Serves one page of the feed. Clients continue with `next`. */
export const feedEventsEndpoint = ({ waitUntilFresh, readFeed, publicUrl }: AuditContext) =>
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
  });
