import { type Endpoint, implement, reads, writes } from '@bunting/bus';
import {
  AddStrategy,
  authorise,
  DeleteStrategy,
  GetStrategy,
  ListStrategies,
  PatchStrategy,
  SetStrategyOrder,
  UpdateStrategy,
  ValidateConstraint,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { validateConstraint } from './constraint.ts';
import { addStrategy, patchStrategy, removeStrategy, reorderStrategies, updateStrategy } from './edit-strategy.ts';
import { publicStrategy, strategyOf } from './strategy.ts';
import type { FeaturesContext } from '../context.ts';
import { possibleReferencesIn, noReferences } from '../projects/project-context-store.ts';
import { saveDecision } from '../unit-of-work/save-decisions.ts';

export function strategyEndpoints({
  featureParts,
  contextFields,
  allowsRegex,
  transaction,
}: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListStrategies, ({ params }) => featureParts.strategies(params)),

    reads(GetStrategy, ({ params }) => featureParts.strategy(params)),

    implement(ValidateConstraint, async ({ body }) => {
      validateConstraint(body, await contextFields.find(body.contextName), { allowsRegex, path: '/body' });
      return null;
    }),

    writes(AddStrategy, transaction, async (tx, { params, body, caller }) => {
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

    writes(UpdateStrategy, transaction, async (tx, { params, body, caller }) => {
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        possibleReferencesIn(body),
      );
      authorise(caller, UpdateStrategy.permission, { project: feature.project, environment: params.environment });
      const decision = updateStrategy(feature, params, body, projectContext);
      return publicStrategy(strategyOf(await saveDecision(tx, decision, caller), params));
    }),

    writes(PatchStrategy, transaction, async (tx, { params, body, caller }) => {
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        possibleReferencesIn(body),
      );
      authorise(caller, PatchStrategy.permission, { project: feature.project, environment: params.environment });
      const decision = patchStrategy(feature, params, body, projectContext);
      return publicStrategy(strategyOf(await saveDecision(tx, decision, caller), params));
    }),

    writes(SetStrategyOrder, transaction, async (tx, { params, body, caller }) => {
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

    writes(DeleteStrategy, transaction, async (tx, { params, caller }) => {
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, DeleteStrategy.permission, { project: feature.project, environment: params.environment });
      await saveDecision(tx, removeStrategy(feature, params), caller);
      return null;
    }),
  ];
}
