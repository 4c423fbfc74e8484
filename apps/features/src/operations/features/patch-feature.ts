import { implement } from '@bunting/bus';
import { authorise, PatchFeature } from '@bunting/contracts';
import { patchFeature } from '../../domain/features/update-feature.ts';
import { featureWithoutEnvironments } from '../../domain/features/feature-without-environments.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const patchFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(PatchFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, PatchFeature.permission, { project: feature.project });
      return featureWithoutEnvironments(await saveDecision(tx, patchFeature(feature, body), caller));
    }),
  );
