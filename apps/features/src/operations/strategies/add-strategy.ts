import { implement } from '@bunting/bus';
import { AddStrategy, authorise } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { publicStrategy, strategyOf } from '../../domain/strategies/strategy.ts';
import { addStrategy } from '../../domain/strategies/edit-strategy.ts';
import { saveDecision } from '../save-decisions.ts';
import { possibleReferencesIn } from '../possible-references.ts';
import type { FeaturesContext } from '../context.ts';

export const addStrategyEndpoint = ({ transaction }: FeaturesContext) =>
  implement(AddStrategy, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { environment } = params;
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        possibleReferencesIn(body),
      );
      authorise(caller, AddStrategy.permission, { project: feature.project, environment });
      const strategyId = randomUUID();
      const decision = addStrategy(feature, body, { environment, strategyId, projectContext, path: '/body' });
      return publicStrategy(strategyOf(await saveDecision(tx, decision, caller), { environment, strategyId }));
    }),
  );
