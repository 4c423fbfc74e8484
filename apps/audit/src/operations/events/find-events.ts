import { implement, JsonText } from '@bunting/bus';
import { FindEvents } from '@bunting/contracts';
import { eventFilters, eventRows } from '../../domain/event-query.ts';
import type { EventAnswers } from './event-pages.ts';

export const findEventsEndpoint = (answer: EventAnswers) =>
  implement(FindEvents, async ({ query, ...asking }) => {
    const { events, total } = await answer(asking, { ...eventFilters(query), textIn: 'data' }, eventRows(query));
    return new JsonText(`{"events":[${events.join(',')}],"total":${total}}`);
  });
