import { implement } from '@bunting/bus';
import { AddFavoriteFeature } from '@bunting/contracts';
import { tellFavorite } from './tell-favorite.ts';
import type { FeaturesContext } from '../context.ts';

export const addFavoriteFeatureEndpoint = ({ work }: FeaturesContext) =>
  implement(AddFavoriteFeature, (asked) =>
    work(asked, async (tx) => {
      const { params, caller } = asked;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      if (await tx.favorites.add(feature.name, caller.id)) await tellFavorite(tx, 'feature-favorited', feature, caller);
      return null;
    }),
  );
