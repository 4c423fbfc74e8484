import { implement, JsonText } from '@bunting/bus';
import { SearchEvents } from '@bunting/contracts';
import { parseEventFilters, parsePage } from '../../domain/event-query.ts';
import type { AuditContext } from '../context.ts';

export const searchEventsEndpoint = ({ readEventPage }: AuditContext) =>
  implement(SearchEvents, async ({ query, ...request }) => {
    const { events, total } = await readEventPage(
      request,
      { ...parseEventFilters(query), textIn: 'data' },
      parsePage(query),
    );
    return new JsonText(`{"events":[${events.join(',')}],"total":${total}}`);
  });
