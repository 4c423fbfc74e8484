import { implement, JsonText } from '@bunting/bus';
import { FeedEvents, invalid } from '@bunting/contracts';
import { eventFilters } from '../../domain/event-query.ts';
import { visibleEvents } from '../../domain/visible-events.ts';
import type { FeedPage } from '../../persistence/search/event-feed.ts';
import type { Criteria } from '../../persistence/search/conditions.ts';
import { described, type FreshLog } from './event-pages.ts';

/** Answers one page of the feed; whoever reads on asks for the next one. */
export const feedEventsEndpoint = (
  fresh: FreshLog,
  read: (query: Criteria, after: number) => Promise<FeedPage>,
  publicUrl: string,
) =>
  implement(FeedEvents, async ({ query: { after = 0, follow = false, ...filters }, ...asking }) => {
    const query = { ...eventFilters(filters), textIn: 'data' as const, visible: visibleEvents(asking.caller) };
    let page = await read(query, after);
    if (!follow && page.next >= page.head) {
      // Whoever reads to the end finds there what was committed before; who follows gets it when it comes.
      await fresh(asking);
      page = await read(query, after);
    }
    if (after > page.head) {
      const message = `The \`/query/after\` property must be the id of an event: the last one has ${page.head}. You sent ${after}.`;
      throw invalid(message, '/query/after');
    }
    const items = page.events.map(
      (found) => `${described(found, query.visible, publicUrl).slice(0, -1)},"hash":${JSON.stringify(found.hash)}}`,
    );
    return new JsonText(`{"items":[${items.join(',')}],"next":${page.next},"atEnd":${page.next >= page.head}}`);
  });
