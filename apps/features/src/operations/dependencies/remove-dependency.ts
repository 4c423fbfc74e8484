import { implement } from '@bunting/bus';
import { authorise, RemoveDependency } from '@bunting/contracts';
import { removeDependency } from '../../domain/dependencies/dependency.ts';
import { saveDecision } from '../save-decisions.ts';
import type { FeaturesContext } from '../context.ts';

export const removeDependencyEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveDependency, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const feature = await tx.features.getWithParentsForUpdate(params.projectId, params.featureName);
      authorise(caller, RemoveDependency.permission, { project: feature.project });
      await saveDecision(tx, removeDependency(feature, params.parent), caller);
      return null;
    }),
  );
