import { implement, onBehalfOf } from '@bunting/bus';
import { ListProposedSegmentStrategies, ListStrategiesOfSegment } from '@bunting/contracts';
import { call } from '../../calls.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

/** The strategies and pending change requests that use a segment. Fails if the change requests service does not reply. */
export const listStrategiesOfSegmentEndpoint = ({ segments, bus }: FeaturesContext) =>
  implement(ListStrategiesOfSegment, async (request) => {
    const { id: segment } = request.params;
    const strategies = await segments.strategiesOf(segment, hiddenProjectsOf(request.caller));
    const { changeRequestStrategies } = await call(
      bus,
      ListProposedSegmentStrategies,
      { body: { segment } },
      onBehalfOf(request),
    );
    return { strategies, changeRequestStrategies };
  });
