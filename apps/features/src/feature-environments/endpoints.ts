import { type Endpoint, reads, writes } from '@bunting/bus';
import {
  authorise,
  DisableFeature,
  DisableFeatures,
  EnableFeature,
  EnableFeatures,
  GetFeatureEnvironment,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { disableFeature, enableFeature } from './switch-feature.ts';
import type { FeaturesContext } from '../context.ts';
import { authoriseDefaultStrategy } from './authorise-default-strategy.ts';
import { lockFeaturesWithContext } from './lock-features-with-context.ts';
import { saveDecision, saveDecisions } from '../unit-of-work/save-decisions.ts';
import { noReferences } from '../projects/project-context-reader.ts';

export function featureEnvironmentEndpoints({ featureParts, transaction }: FeaturesContext): readonly Endpoint[] {
  return [
    reads(GetFeatureEnvironment, ({ params }) => featureParts.environment(params)),

    writes(EnableFeature, transaction, async (tx, { params, query, caller }) => {
      const { environment } = params;
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        noReferences,
      );
      const where = { project: feature.project, environment };
      authorise(caller, EnableFeature.permission, where);
      authoriseDefaultStrategy(caller, [feature], where);
      const activateDisabled = query.shouldActivateDisabledStrategies ?? false;
      const options = { activateDisabled, defaultStrategyId: randomUUID() };
      await saveDecision(tx, enableFeature(feature, environment, options, projectContext), caller);
      return null;
    }),

    writes(EnableFeatures, transaction, async (tx, { params, query, body, caller }) => {
      const { environment } = params;
      const where = { project: params.projectId, environment };
      authorise(caller, EnableFeatures.permission, where);
      const { features, projectContext } = await lockFeaturesWithContext(tx, params.projectId, body.features);
      authoriseDefaultStrategy(caller, features, where);
      const activateDisabled = query.shouldActivateDisabledStrategies ?? false;
      const decisions = features.map((feature) =>
        enableFeature(feature, environment, { activateDisabled, defaultStrategyId: randomUUID() }, projectContext),
      );
      await saveDecisions(tx, decisions, caller);
      return null;
    }),

    writes(DisableFeature, transaction, async (tx, { params, caller }) => {
      const { environment } = params;
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        noReferences,
      );
      authorise(caller, DisableFeature.permission, { project: feature.project, environment });
      await saveDecision(tx, disableFeature(feature, environment, projectContext), caller);
      return null;
    }),

    writes(DisableFeatures, transaction, async (tx, { params, body, caller }) => {
      const { projectId, environment } = params;
      authorise(caller, DisableFeatures.permission, { project: projectId, environment });
      const { features, projectContext } = await lockFeaturesWithContext(tx, projectId, body.features);
      await saveDecisions(
        tx,
        features.map((feature) => disableFeature(feature, environment, projectContext)),
        caller,
      );
      return null;
    }),
  ];
}
