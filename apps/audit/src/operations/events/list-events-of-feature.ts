import { implement, JsonText } from '@bunting/bus';
import { ListEventsOfFeature } from '@bunting/contracts';
import type { ReadEventPage } from './event-pages.ts';

export const listEventsOfFeatureEndpoint = (answer: ReadEventPage) =>
  implement(ListEventsOfFeature, async ({ params: { featureName }, ...asking }) => {
    const { events, total } = await answer(asking, { features: [featureName] }, {});
    const name = JSON.stringify(featureName);
    return new JsonText(`{"version":1,"toggleName":${name},"events":[${events.join(',')}],"totalEvents":${total}}`);
  });
