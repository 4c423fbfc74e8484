import { implement } from '@bunting/bus';
import { RemoveFavoriteFeature } from '@bunting/contracts';
import { emitFavoriteEvent } from './emit-favorite-event.ts';
import type { FeaturesContext } from '../context.ts';

export const removeFavoriteFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveFavoriteFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      if (await tx.favorites.remove(feature.name, caller.id)) emitFavoriteEvent(tx, 'feature-unfavorited', feature);
      return null;
    }),
  );
