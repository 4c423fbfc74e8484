import { implement, JsonText } from '@bunting/bus';
import { SearchEvents } from '@bunting/contracts';
import { parseEventFilters, parsePage } from '../../domain/event-query.ts';
import type { ReadEventPage } from './event-pages.ts';

export const searchEventsEndpoint = (answer: ReadEventPage) =>
  implement(SearchEvents, async ({ query, ...asking }) => {
    const { events, total } = await answer(asking, { ...parseEventFilters(query), textIn: 'data' }, parsePage(query));
    return new JsonText(`{"events":[${events.join(',')}],"total":${total}}`);
  });
