import { implement } from '@bunting/bus';
import { RemoveFavoriteFeature } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { tellFavorite } from './tell-favorite.ts';

export const removeFavoriteFeatureEndpoint = (work: UnitOfWork) =>
  implement(RemoveFavoriteFeature, (asked) =>
    work(asked, async (tx) => {
      const { params, caller } = asked;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      if (await tx.favorites.remove(feature.name, caller.id))
        await tellFavorite(tx, 'feature-unfavorited', feature, caller);
      return null;
    }),
  );
