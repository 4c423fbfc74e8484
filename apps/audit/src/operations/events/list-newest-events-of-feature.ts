import { implement, JsonText } from '@bunting/bus';
import { ListNewestEventsOfFeature } from '@bunting/contracts';
import type { AuditContext } from '../context.ts';

export const listNewestEventsOfFeatureEndpoint = ({ readEventPage }: AuditContext) =>
  implement(ListNewestEventsOfFeature, async ({ params: { featureName }, ...request }) => {
    const { events, total } = await readEventPage(request, { features: [featureName] }, {});
    const name = JSON.stringify(featureName);
    return new JsonText(`{"version":1,"toggleName":${name},"events":[${events.join(',')}],"totalEvents":${total}}`);
  });
