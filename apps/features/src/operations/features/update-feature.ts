import { implement } from '@bunting/bus';
import { authorise, UpdateFeature } from '@bunting/contracts';
import { updateFeature } from '../../domain/features/update-feature.ts';
import { featureWithoutEnvironments } from '../../domain/features/feature-without-environments.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const updateFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, UpdateFeature.permission, { project: feature.project });
      return featureWithoutEnvironments(await saveDecision(tx, updateFeature(feature, body), caller));
    }),
  );
