import { implement } from '@bunting/bus';
import { authorise, CompleteFeature } from '@bunting/contracts';
import { completeFeature } from '../../domain/lifecycle/lifecycle.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const completeFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CompleteFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller, now } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, CompleteFeature.permission, { project: feature.project });
      await saveDecision(tx, completeFeature(feature, body, now.toISOString()), caller);
      return null;
    }),
  );
