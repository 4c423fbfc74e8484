import { implement } from '@bunting/bus';
import { ListSegmentUses } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';

/** What hidden projects are about to do is not there; of the drafts of others it shows that they are, and not which they are. */
export const listSegmentUsesEndpoint = ({ reader }: ChangeRequestsContext) =>
  implement(ListSegmentUses, async ({ body, caller }) => {
    const uses = await reader.strategiesUsing(body.segment, caller.id, caller.hiddenProjects ?? []);
    return {
      changeRequestStrategies: uses.map(({ request, strategy: { id, ...strategy } }) => ({
        ...(id === null ? {} : { id }),
        ...strategy,
        changeRequest: request ?? { id: null, title: null },
      })),
    };
  });
