import { implement, JsonText } from '@bunting/bus';
import { ListEventsOfFeature } from '@bunting/contracts';
import type { ReadEventPage } from './read-event-page.ts';

export const listEventsOfFeatureEndpoint = (answer: ReadEventPage) =>
  implement(ListEventsOfFeature, async ({ params: { featureName }, ...request }) => {
    const { events, total } = await answer(request, { features: [featureName] }, {});
    const name = JSON.stringify(featureName);
    return new JsonText(`{"version":1,"toggleName":${name},"events":[${events.join(',')}],"totalEvents":${total}}`);
  });
