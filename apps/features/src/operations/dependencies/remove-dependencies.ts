import { implement } from '@bunting/bus';
import { authorise, RemoveDependencies } from '@bunting/contracts';
import { removeDependencies } from '../../domain/dependencies/dependency.ts';
import { saveDecision } from '../save-decisions.ts';
import type { FeaturesContext } from '../context.ts';

export const removeDependenciesEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveDependencies, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const feature = await tx.features.getWithParentsForUpdate(params.projectId, params.featureName);
      authorise(caller, RemoveDependencies.permission, { project: feature.project });
      await saveDecision(tx, removeDependencies(feature), caller);
      return null;
    }),
  );
