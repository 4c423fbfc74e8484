import { implement } from '@bunting/bus';
import { RemoveFavoriteFeature } from '@bunting/contracts';
import { featureUnfavorited } from '../../domain/favorites/favorite-events.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const removeFavoriteFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveFavoriteFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      if (!(await tx.featureFavorites.remove(feature.name, caller.id, [featureUnfavorited(feature)]))) return null;
      // The state of a feature lists the users whose favourite it is.
      await tx.features.emitStates([feature.name]);
      return null;
    }),
  );
