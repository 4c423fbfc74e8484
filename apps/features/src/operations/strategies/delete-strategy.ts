import { implement } from '@bunting/bus';
import { authorise, DeleteStrategy } from '@bunting/contracts';
import { removeStrategy } from '../../domain/strategies/edit-strategy.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteStrategyEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteStrategy, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, DeleteStrategy.permission, { project: feature.project, environment: params.environment });
      await saveDecision(tx, removeStrategy(feature, params), caller);
      return null;
    }),
  );
