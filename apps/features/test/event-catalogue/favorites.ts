import {
  AddFavoriteFeature,
  AddFavoriteProject,
  RemoveFavoriteFeature,
  RemoveFavoriteProject,
} from '@bunting/contracts';
import { type CatalogueRow, inOrder, send } from '../event-catalogue.ts';
import { inShop, lampPath, shopPath, storedFeatures, tags } from './fixtures.ts';

export const favoriteRows: readonly CatalogueRow[] = [
  {
    write: 'adding a feature to the favourites',
    given: storedFeatures({}),
    request: send(AddFavoriteFeature, { params: lampPath }),
    emits: [{ type: 'feature-favorited', featureName: 'lamp', data: { feature: 'lamp' }, tags }],
    repeated: 'emits nothing',
  },
  {
    write: 'removing a feature from the favourites',
    given: inOrder(storedFeatures({}), send(AddFavoriteFeature, { params: lampPath })),
    request: send(RemoveFavoriteFeature, { params: lampPath }),
    emits: [{ type: 'feature-unfavorited', featureName: 'lamp', data: { feature: 'lamp' }, tags }],
    repeated: 'emits nothing',
  },
  {
    write: 'adding a project to the favourites',
    request: send(AddFavoriteProject, { params: shopPath }),
    emits: [{ type: 'project-favorited', ...inShop, data: inShop }],
    repeated: 'emits nothing',
  },
  {
    write: 'removing a project from the favourites',
    given: send(AddFavoriteProject, { params: shopPath }),
    request: send(RemoveFavoriteProject, { params: shopPath }),
    emits: [{ type: 'project-unfavorited', ...inShop, data: inShop }],
    repeated: 'emits nothing',
  },
];
