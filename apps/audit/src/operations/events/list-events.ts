import { implement, JsonText } from '@bunting/bus';
import { ListEvents } from '@bunting/contracts';
import { type EventAnswers, listed } from './event-pages.ts';

export const listEventsEndpoint = (answer: EventAnswers) =>
  implement(ListEvents, async ({ query: { project }, ...asking }) => {
    const { events, total } = await answer(asking, { projects: listed(project) }, {});
    return new JsonText(`{"version":1,"events":[${events.join(',')}],"totalEvents":${total}}`);
  });
