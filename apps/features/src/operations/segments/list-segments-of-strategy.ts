import { implement, JsonText } from '@bunting/bus';
import { ListSegmentsOfStrategy } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listSegmentsOfStrategyEndpoint = ({ segments }: FeaturesContext) =>
  implement(
    ListSegmentsOfStrategy,
    async ({ params, caller }) => new JsonText(await segments.ofStrategy(params.strategyId, hiddenProjectsOf(caller))),
  );
