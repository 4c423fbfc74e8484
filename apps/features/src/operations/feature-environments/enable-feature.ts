import { implement } from '@bunting/bus';
import { EnableFeature } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { enableFeature } from '../../domain/environments/feature-environment.ts';
import { inEnvironment } from '../../domain/strategies/strategy.ts';
import { authorise } from '../authorise.ts';
import { saveAndEmit } from '../save-and-emit.ts';
import type { FeaturesContext } from '../context.ts';

export const enableFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(EnableFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, query, caller } = request;
      const { environment } = params;
      const { feature, projectContext } = await tx.features.getForUpdate(params.projectId, params.featureName);
      const where = { project: feature.project, environment };
      authorise(caller, EnableFeature.permission, where);
      // Adding the first strategy requires the permission to add strategies. Adding one beside disabled strategies does not, as in Unleash.
      if (inEnvironment(feature, environment).strategies.length === 0)
        authorise(caller, 'CREATE_FEATURE_STRATEGY', where);
      const activateDisabled = query.shouldActivateDisabledStrategies ?? false;
      const enabling = { activateDisabled, defaultStrategyId: randomUUID() };
      await saveAndEmit(tx, enableFeature(feature, environment, enabling, projectContext), caller);
      return null;
    }),
  );
