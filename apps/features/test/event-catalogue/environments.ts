import { expect } from 'vitest';
import {
  AddProjectEnvironment,
  CloneEnvironment,
  DeleteEnvironment,
  DisableFeatures,
  EnableFeatures,
  SetEnvironmentOrder,
  SwitchEnvironmentOff,
  SwitchEnvironmentOn,
  UpdateEnvironment,
} from '@bunting/contracts';
import { type CatalogueRow, inOrder, send } from '../event-catalogue.ts';
import {
  createEnvironment,
  developmentEvent,
  inShop,
  lampEvent,
  secondStrategy,
  shopPath,
  storedFeatures,
  strategy,
} from './fixtures.ts';

/** An environment as events show it. */
const environmentNamed = (name: string, sortOrder = 9) => ({
  name,
  type: 'test',
  sortOrder,
  enabled: true,
  protected: false,
  requiredApprovals: null,
});

export const environmentRows: readonly CatalogueRow[] = [
  {
    write: 'enabling features in bulk',
    given: storedFeatures({ strategies: [strategy] }, { name: 'lit', enabled: true, strategies: [secondStrategy] }),
    request: send(EnableFeatures, {
      params: { ...shopPath, environment: 'development' },
      query: {},
      body: { features: ['lamp', 'lit'] },
    }),
    emits: [developmentEvent('feature-environment-enabled')],
    repeated: 'emits nothing',
  },
  {
    write: 'disabling features in bulk',
    given: storedFeatures({ enabled: true, strategies: [strategy] }, { name: 'dark' }),
    request: send(DisableFeatures, {
      params: { ...shopPath, environment: 'development' },
      body: { features: ['lamp', 'dark'] },
    }),
    emits: [developmentEvent('feature-environment-disabled')],
    repeated: 'emits nothing',
  },
  {
    write: 'creating an environment',
    request: createEnvironment('lab'),
    emits: [{ type: 'environment-created', environment: 'lab', data: environmentNamed('lab') }],
    repeated: 'is refused',
  },
  {
    write: 'updating an environment',
    given: createEnvironment('attic'),
    request: send(UpdateEnvironment, { params: { name: 'attic' }, body: { sortOrder: 12 } }),
    emits: [
      {
        type: 'environment-updated',
        environment: 'attic',
        preData: environmentNamed('attic'),
        data: environmentNamed('attic', 12),
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'reordering the environments',
    given: createEnvironment('roof'),
    request: send(SetEnvironmentOrder, { body: { roof: 14, development: 2 } }),
    emits: [
      {
        type: 'environment-updated',
        environment: 'roof',
        preData: environmentNamed('roof'),
        data: environmentNamed('roof', 14),
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'disabling an environment and enabling it again',
    given: createEnvironment('cellar'),
    request: inOrder(
      send(SwitchEnvironmentOff, { params: { name: 'cellar' } }),
      send(SwitchEnvironmentOn, { params: { name: 'cellar' } }),
    ),
    emits: [],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting an environment',
    given: inOrder(
      createEnvironment('shed'),
      send(AddProjectEnvironment, { params: { projectId: 'shop' }, body: { environment: 'shed' } }),
    ),
    request: send(DeleteEnvironment, { params: { name: 'shed' } }),
    emits: [
      { type: 'project-environment-removed', ...inShop, environment: 'shed' },
      { type: 'environment-deleted', environment: 'shed', preData: environmentNamed('shed') },
    ],
    repeated: 'is refused',
  },
  {
    write: 'cloning an environment',
    given: storedFeatures({ enabled: true, strategies: [strategy] }, { name: 'empty' }),
    request: send(CloneEnvironment, {
      params: { name: 'development' },
      body: { name: 'twin', type: 'test', projects: ['shop'] },
    }),
    emits: [
      {
        type: 'environment-created',
        environment: 'twin',
        data: { ...environmentNamed('twin'), sortOrder: expect.any(Number) },
      },
      { type: 'project-environment-added', ...inShop, environment: 'twin' },
      lampEvent('feature-strategy-add', { environment: 'twin', data: { ...strategy, id: expect.any(String) } }),
      lampEvent('feature-environment-enabled', { environment: 'twin' }),
    ],
    repeated: 'is refused',
  },
];
