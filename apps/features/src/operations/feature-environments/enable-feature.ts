import { implement } from '@bunting/bus';
import { authorise, EnableFeature } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { enableFeature } from '../../domain/feature-environments/switch-feature.ts';
import { saveDecision } from '../save-decisions.ts';
import { authoriseDefaultStrategy } from './authorise-default-strategy.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const enableFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(EnableFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, query, caller } = request;
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
  );
