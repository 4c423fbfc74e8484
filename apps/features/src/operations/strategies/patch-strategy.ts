import { implement } from '@bunting/bus';
import { authorise, PatchStrategy } from '@bunting/contracts';
import { publicStrategy, strategyOf } from '../../domain/strategies/strategy.ts';
import { patchStrategy } from '../../domain/strategies/edit-strategy.ts';
import { saveDecision } from '../save-decisions.ts';
import { possibleReferencesIn } from '../possible-references.ts';
import type { FeaturesContext } from '../context.ts';

export const patchStrategyEndpoint = ({ transaction }: FeaturesContext) =>
  implement(PatchStrategy, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        possibleReferencesIn(body),
      );
      authorise(caller, PatchStrategy.permission, { project: feature.project, environment: params.environment });
      const decision = patchStrategy(feature, params, body, projectContext);
      return publicStrategy(strategyOf(await saveDecision(tx, decision, caller), params));
    }),
  );
