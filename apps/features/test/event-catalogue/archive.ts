import {
  ArchiveFeature,
  ArchiveFeatures,
  DeleteFeature,
  DeleteFeatures,
  ReviveFeature,
  ReviveFeatures,
} from '@bunting/contracts';
import { type CatalogueRow, send } from '../event-catalogue.ts';
import {
  archivedAt,
  lampEvent,
  lampPath,
  shopPath,
  storedFeatures,
  storedLamp,
  storedLampWithParent,
  strategy,
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
