import { implement } from '@bunting/bus';
import { authorise, DisableFeature } from '@bunting/contracts';
import { disableFeature } from '../../domain/feature-environments/switch-feature.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const disableFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DisableFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
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
  );
