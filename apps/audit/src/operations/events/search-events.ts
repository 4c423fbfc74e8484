import { implement, JsonText } from '@bunting/bus';
import { SearchEvents } from '@bunting/contracts';
import { parsePage } from '@bunting/contracts/validation';
import { parseEventFilters } from '../../search/event-filters.ts';
import type { AuditContext } from '../context.ts';

export const searchEventsEndpoint = ({ readEventPage }: AuditContext) =>
  implement(SearchEvents, async ({ query, ...request }) => {
    const { offset: skip, limit } = parsePage(query);
    const filters = { ...parseEventFilters(query), textIn: 'data' as const };
    const { events, total } = await readEventPage(request, filters, { skip, limit });
    return new JsonText(`{"events":[${events.join(',')}],"total":${total}}`);
  });
