import { implement } from '@bunting/bus';
import { authorise, SetStrategySegments } from '@bunting/contracts';
import { strategyNotFound } from '../../domain/refusals.ts';
import { setStrategySegments } from '../../domain/segments/set-strategy-segments.ts';
import { saveDecision } from '../save-decisions.ts';
import { possibleReferencesIn } from '../possible-references.ts';
import type { FeaturesContext } from '../context.ts';

export const setStrategySegmentsEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetStrategySegments, (request) =>
    transaction(request, async (tx) => {
      const { body, caller } = request;
      const { projectId, strategyId, environmentId, segmentIds } = body;
      const owner = await tx.features.findRefOfStrategy(strategyId);
      // The project of the strategy decides, not the one that the body names.
      authorise(caller, SetStrategySegments.permission, { project: owner?.project, environment: environmentId });
      if (owner?.project !== projectId) throw strategyNotFound(strategyId);
      const { feature, projectContext } = await tx.features.getForUpdate(
        projectId,
        owner.name,
        possibleReferencesIn(segmentIds),
      );
      const ref = { environment: environmentId, strategyId };
      await saveDecision(tx, setStrategySegments(feature, ref, segmentIds, projectContext), caller);
      return body;
    }),
  );
