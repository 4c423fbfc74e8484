import {
  AddDependency,
  AddFavoriteFeature,
  AddFavoriteProject,
  ArchiveFeature,
  ArchiveFeatures,
  DeleteFeature,
  DeleteFeatures,
  RemoveDependencies,
  RemoveDependency,
  RemoveFavoriteFeature,
  RemoveFavoriteProject,
  ReviveFeature,
  ReviveFeatures,
} from '@bunting/contracts';
import { type CatalogueRow, inOrder, send } from '../event-catalogue.ts';
import {
  archivedAt,
  inShop,
  lampEvent,
  lampPath,
  shopPath,
  socketDependency,
  storedFeatures,
  storedLamp,
  storedLampWithParent,
  strategy,
  tags,
} from './fixtures.ts';

export const archiveRows: readonly CatalogueRow[] = [
  {
    write: 'archiving a feature that has a parent',
    given: storedLampWithParent,
    request: send(ArchiveFeature, { params: lampPath }),
    emits: [lampEvent('feature-dependencies-removed'), lampEvent('feature-archived')],
    repeated: 'emits nothing',
  },
  {
    write: 'archiving features',
    given: storedFeatures({}, { name: 'socket' }),
    request: send(ArchiveFeatures, { params: shopPath, body: { features: ['socket', 'lamp'] } }),
    emits: [lampEvent('feature-archived'), lampEvent('feature-archived', { featureName: 'socket' })],
    repeated: 'emits nothing',
  },
  {
    write: 'reviving a feature that was enabled',
    given: storedFeatures({ archivedAt, enabled: true, strategies: [strategy] }),
    request: send(ReviveFeature, { params: lampPath }),
    emits: [lampEvent('feature-revived')],
    repeated: 'emits nothing',
  },
  {
    write: 'reviving features',
    given: storedFeatures({ archivedAt }, { name: 'active' }),
    request: send(ReviveFeatures, { params: shopPath, body: { features: ['lamp', 'active', 'unknown'] } }),
    emits: [lampEvent('feature-revived')],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting an archived feature',
    given: storedFeatures({ archivedAt }),
    request: send(DeleteFeature, { params: lampPath }),
    emits: [lampEvent('feature-deleted', { preData: storedLamp({ archivedAt }) })],
    repeated: 'is refused',
  },
  {
    write: 'deleting archived features',
    given: storedFeatures({ archivedAt }, { name: 'active' }),
    request: send(DeleteFeatures, { params: shopPath, body: { features: ['lamp', 'active'] } }),
    emits: [lampEvent('feature-deleted', { preData: storedLamp({ archivedAt }) })],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting an active feature',
    given: storedFeatures({}),
    request: send(DeleteFeature, { params: lampPath }),
    emits: [],
    repeated: 'emits nothing',
  },
];

export const dependencyRows: readonly CatalogueRow[] = [
  {
    write: 'adding a dependency',
    given: storedFeatures({ name: 'socket' }, {}),
    request: send(AddDependency, { params: lampPath, body: { feature: 'socket' } }),
    emits: [lampEvent('feature-dependency-added', { data: socketDependency })],
    repeated: 'emits nothing',
  },
  {
    write: 'replacing a dependency',
    given: storedFeatures({ name: 'socket' }, { name: 'plug' }, { dependencies: [socketDependency] }),
    request: send(AddDependency, { params: lampPath, body: { feature: 'plug', enabled: false } }),
    emits: [
      lampEvent('feature-dependency-removed', { data: { feature: 'socket' } }),
      lampEvent('feature-dependency-added', { data: { feature: 'plug', enabled: false, variants: [] } }),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'removing a dependency',
    given: storedLampWithParent,
    request: send(RemoveDependency, { params: { ...lampPath, parent: 'socket' } }),
    emits: [lampEvent('feature-dependency-removed', { data: { feature: 'socket' } })],
    repeated: 'emits nothing',
  },
  {
    write: 'removing all dependencies',
    given: storedLampWithParent,
    request: send(RemoveDependencies, { params: lampPath }),
    emits: [lampEvent('feature-dependencies-removed')],
    repeated: 'emits nothing',
  },
];

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
