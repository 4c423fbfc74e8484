import { implement } from '@bunting/bus';
import { AddFavoriteFeature } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { tellFavorite } from './tell-favorite.ts';

export const addFavoriteFeatureEndpoint = (work: UnitOfWork) =>
  implement(AddFavoriteFeature, (asked) =>
    work(asked, async (tx) => {
      const { params, caller } = asked;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      if (await tx.favorites.add(feature.name, caller.id)) await tellFavorite(tx, 'feature-favorited', feature, caller);
      return null;
    }),
  );
