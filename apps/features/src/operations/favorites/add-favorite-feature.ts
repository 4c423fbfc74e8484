import { implement } from '@bunting/bus';
import { AddFavoriteFeature } from '@bunting/contracts';
import { emitFavoriteEvent } from './emit-favorite-event.ts';
import type { FeaturesContext } from '../context.ts';

export const addFavoriteFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(AddFavoriteFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      if (await tx.favorites.add(feature.name, caller.id)) emitFavoriteEvent(tx, 'feature-favorited', feature);
      return null;
    }),
  );
