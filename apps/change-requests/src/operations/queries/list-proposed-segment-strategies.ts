import { implement } from '@bunting/bus';
import { ListProposedSegmentStrategies } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';

/** Lists the strategies to which open requests add a segment. Omits hidden projects, and the ids and titles of drafts of other users. */
export const listProposedSegmentStrategiesEndpoint = ({ reader }: ChangeRequestsContext) =>
  implement(ListProposedSegmentStrategies, async ({ body, caller }) => {
    const uses = await reader.strategiesUsing(body.segment, caller.id, caller.hiddenProjects ?? []);
    return {
      changeRequestStrategies: uses.map(({ request, strategy: { id, ...strategy } }) => ({
        ...(id === null ? {} : { id }),
        ...strategy,
        changeRequest: request ?? { id: null, title: null },
      })),
    };
  });
