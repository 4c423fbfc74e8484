import { implement, JsonText } from '@bunting/bus';
import { SearchEvents } from '@bunting/contracts';
import { parseEventFilters, parsePage } from '../../domain/event-query.ts';
import type { ReadEventPage } from './read-event-page.ts';

export const searchEventsEndpoint = (answer: ReadEventPage) =>
  implement(SearchEvents, async ({ query, ...request }) => {
    const { events, total } = await answer(request, { ...parseEventFilters(query), textIn: 'data' }, parsePage(query));
    return new JsonText(`{"events":[${events.join(',')}],"total":${total}}`);
  });
