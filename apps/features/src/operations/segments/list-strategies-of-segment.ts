import { call, implement, onBehalfOf } from '@bunting/bus';
import { ListSegmentUses, ListStrategiesOfSegment } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

/** Where a segment is used, and where change requests are about to use it: nobody is told "nowhere" while that is not known. */
export const listStrategiesOfSegmentEndpoint = ({ segmentUses: segments, bus }: FeaturesContext) =>
  implement(ListStrategiesOfSegment, async (asked) => {
    const { id: segment } = asked.params;
    const strategies = await segments.strategiesOf(segment, hiddenFrom(asked.caller));
    const { changeRequestStrategies } = await call(bus, ListSegmentUses, { body: { segment } }, onBehalfOf(asked));
    return { strategies, changeRequestStrategies };
  });
