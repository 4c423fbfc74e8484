import { implement, JsonText } from '@bunting/bus';
import { ListEvents } from '@bunting/contracts';
import { type ReadEventPage, optionalList } from './read-event-page.ts';

export const listEventsEndpoint = (answer: ReadEventPage) =>
  implement(ListEvents, async ({ query: { project }, ...request }) => {
    const { events, total } = await answer(request, { projects: optionalList(project) }, {});
    return new JsonText(`{"version":1,"events":[${events.join(',')}],"totalEvents":${total}}`);
  });
