import { implement, JsonText } from '@bunting/bus';
import { ListNewestEvents } from '@bunting/contracts';
import type { AuditContext } from '../context.ts';
import { optionalList } from '../../search/endpoints.ts';

export const listNewestEventsEndpoint = ({ readEventPage }: AuditContext) =>
  implement(ListNewestEvents, async ({ query: { project }, ...request }) => {
    const { events, total } = await readEventPage(request, { projects: optionalList(project) }, {});
    return new JsonText(`{"version":1,"events":[${events.join(',')}],"totalEvents":${total}}`);
  });
