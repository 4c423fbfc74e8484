import { implement, JsonText } from '@bunting/bus';
import { additionalEventTypes, requireStorableText, DeprecatedSearchEvents } from '@bunting/contracts';
import type { AuditContext } from '../context.ts';
import { optionalList } from '../../search/endpoints.ts';

export const deprecatedSearchEventsEndpoint = ({ readEventPage }: AuditContext) =>
  implement(DeprecatedSearchEvents, async ({ body, ...request }) => {
    requireStorableText(body, '/body');
    const { type, project, feature, query, limit = 100, offset = 0 } = body;
    const { events, total } = await readEventPage(
      request,
      {
        types: optionalList(type),
        excludedTypes: type === undefined ? additionalEventTypes : undefined,
        projects: optionalList(project),
        features: optionalList(feature),
        text: query,
      },
      { from: offset === 0 ? Number.MAX_SAFE_INTEGER : offset, limit },
      true,
    );
    return new JsonText(`{"version":1,"events":[${events.join(',')}],"totalEvents":${total}}`);
  });
