import { type Endpoint, implement, JsonText } from '@bunting/bus';
import { GetProjectActivity, ListEventCreators } from '@bunting/contracts';
import type { AuditContext } from '../endpoints.ts';
import { eventVisibilityOf } from '../search/event-filters.ts';
import { eventCreators, projectActivity } from './statistics-store.ts';

export function statisticsEndpoints({ database, waitUntilFresh }: AuditContext): readonly Endpoint[] {
  const activityOf = projectActivity(database);
  const creatorsOf = eventCreators(database);
  return [
    implement(GetProjectActivity, async (request) => {
      await waitUntilFresh(request);
      const { project, days = 0 } = request.body;
      return new JsonText(await activityOf(project, days));
    }),

    implement(ListEventCreators, async (request) => {
      await waitUntilFresh(request);
      return creatorsOf(eventVisibilityOf(request.caller));
    }),
  ];
}
