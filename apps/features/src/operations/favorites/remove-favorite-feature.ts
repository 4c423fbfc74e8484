import { implement } from '@bunting/bus';
import { RemoveFavoriteFeature } from '@bunting/contracts';
import { tellFavorite } from './tell-favorite.ts';
import type { FeaturesContext } from '../context.ts';

export const removeFavoriteFeatureEndpoint = ({ work }: FeaturesContext) =>
  implement(RemoveFavoriteFeature, (request) =>
    work(request, async (tx) => {
      const { params, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      if (await tx.favorites.remove(feature.name, caller.id))
        await tellFavorite(tx, 'feature-unfavorited', feature, caller);
      return null;
    }),
  );
