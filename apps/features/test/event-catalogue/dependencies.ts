import { AddDependency, RemoveDependencies, RemoveDependency } from '@bunting/contracts';
import { type CatalogueRow, send } from '../event-catalogue.ts';
import { lampEvent, lampPath, socketDependency, storedFeatures, storedLampWithParent } from './fixtures.ts';

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
