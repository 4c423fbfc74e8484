import { implement, JsonText } from '@bunting/bus';
import { ListSegmentsOfStrategy } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const listSegmentsOfStrategyEndpoint = ({ segmentUses: segments }: FeaturesContext) =>
  implement(
    ListSegmentsOfStrategy,
    async ({ params, caller }) => new JsonText(await segments.ofStrategy(params.strategyId, hiddenFrom(caller))),
  );
