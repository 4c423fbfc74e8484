import { implement } from '@bunting/bus';
import { authorise, UpdateStrategy } from '@bunting/contracts';
import { publicStrategy, strategyOf } from '../../domain/strategies/strategy.ts';
import { updateStrategy } from '../../domain/strategies/update-strategy.ts';
import { saveDecision } from '../save-decisions.ts';
import { possibleReferencesIn } from '../possible-references.ts';
import type { FeaturesContext } from '../context.ts';

export const updateStrategyEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateStrategy, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        possibleReferencesIn(body),
      );
      authorise(caller, UpdateStrategy.permission, { project: feature.project, environment: params.environment });
      const decision = updateStrategy(feature, params, body, projectContext);
      return publicStrategy(strategyOf(await saveDecision(tx, decision, caller), params));
    }),
  );
