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
import { possibleReferencesIn } from '../projects/project-context-store.ts';
import { editFeature } from '../features/endpoints.ts';
import { saveDecision } from '../unit-of-work/save-decisions.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';

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

    writes<typeof AddStrategy, Transaction>(AddStrategy, transaction.edit, async (tx, { params, body, caller }) => {
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

    editFeature(UpdateStrategy, transaction, {
      references: possibleReferencesIn,
      rule: (feature, { params, body }, context) => updateStrategy(feature, params, body, context),
      reply: (after, { params }) => publicStrategy(strategyOf(after, params)),
    }),

    editFeature(PatchStrategy, transaction, {
      references: possibleReferencesIn,
      rule: (feature, { params, body }, context) => patchStrategy(feature, params, body, context),
      reply: (after, { params }) => publicStrategy(strategyOf(after, params)),
    }),

    editFeature(SetStrategyOrder, transaction, {
      rule: (feature, { params, body }, projectContext) =>
        reorderStrategies(feature, params.environment, body, { projectContext, path: '/body' }),
      reply: () => null,
    }),

    editFeature(DeleteStrategy, transaction, {
      rule: (feature, { params }) => removeStrategy(feature, params),
      reply: () => null,
    }),
  ];
}
