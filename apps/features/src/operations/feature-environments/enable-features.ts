import { implement } from '@bunting/bus';
import { authorise, EnableFeatures } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { enableFeature } from '../../domain/feature-environments/switch-feature.ts';
import { saveDecisions } from '../save-decisions.ts';
import { lockFeaturesWithContext } from './lock-features-with-context.ts';
import { authoriseDefaultStrategy } from './authorise-default-strategy.ts';
import type { FeaturesContext } from '../context.ts';

export const enableFeaturesEndpoint = ({ transaction }: FeaturesContext) =>
  implement(EnableFeatures, (request) =>
    transaction(request, async (tx) => {
      const { params, query, body, caller } = request;
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
  );
