import { implement, JsonText } from '@bunting/bus';
import { ListEvents } from '@bunting/contracts';
import { type ReadEventPage, optionalList } from './event-pages.ts';

export const listEventsEndpoint = (answer: ReadEventPage) =>
  implement(ListEvents, async ({ query: { project }, ...asking }) => {
    const { events, total } = await answer(asking, { projects: optionalList(project) }, {});
    return new JsonText(`{"version":1,"events":[${events.join(',')}],"totalEvents":${total}}`);
  });
