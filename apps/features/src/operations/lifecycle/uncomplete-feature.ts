import { implement } from '@bunting/bus';
import { authorise, UncompleteFeature } from '@bunting/contracts';
import { uncompleteFeature } from '../../domain/lifecycle/lifecycle.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const uncompleteFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UncompleteFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, UncompleteFeature.permission, { project: feature.project });
      await saveDecision(tx, uncompleteFeature(feature), caller);
      return null;
    }),
  );
