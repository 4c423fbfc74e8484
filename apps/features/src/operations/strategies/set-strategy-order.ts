import { implement } from '@bunting/bus';
import { authorise, SetStrategyOrder } from '@bunting/contracts';
import { reorderStrategies } from '../../domain/strategies/reorder-strategies.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const setStrategyOrderEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetStrategyOrder, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { environment } = params;
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        noReferences,
      );
      authorise(caller, SetStrategyOrder.permission, { project: feature.project, environment });
      await saveDecision(tx, reorderStrategies(feature, environment, body, { projectContext, path: '/body' }), caller);
      return null;
    }),
  );
