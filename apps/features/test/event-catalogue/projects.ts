import {
  AddProjectEnvironment,
  ArchiveProject,
  CloneEnvironment,
  CreateProject,
  CreateSegment,
  DeleteEnvironment,
  DeleteProject,
  DisableFeatures,
  EnableFeatures,
  RemoveProjectEnvironment,
  ReviveProject,
  SetDefaultStrategy,
  SetEnvironmentOrder,
  SwitchEnvironmentOff,
  SwitchEnvironmentOn,
  UpdateEnvironment,
  UpdateProject,
  UpdateProjectSettings,
} from '@bunting/contracts';
import { expect } from 'vitest';
import { type CatalogueRow, inOrder, send, type Step } from '../event-catalogue.ts';
import {
  archivedAt,
  createEnvironment,
  developmentEvent,
  inShop,
  lampEvent,
  secondStrategy,
  segmentNamed,
  shopPath,
  storedFeatures,
  storedLamp,
  strategy,
} from './fixtures.ts';

const createProject = (id: string): Step =>
  send(CreateProject, { body: { id, name: id, environments: ['development', 'production'] } });

/** A project as events show it. */
const projectNamed = (id: string, properties: object = {}) => ({
  id,
  name: id,
  description: null,
  mode: 'open',
  defaultStickiness: 'default',
  featureLimit: null,
  featureNaming: null,
  ...properties,
});

export const projectRows: readonly CatalogueRow[] = [
  {
    write: 'creating a project',
    request: createProject('bakery'),
    emits: [
      {
        type: 'project-created',
        project: 'bakery',
        data: {
          id: 'bakery',
          name: 'bakery',
          description: null,
          mode: 'open',
          defaultStickiness: 'default',
          environments: ['development', 'production'],
          featureLimit: null,
        },
      },
    ],
    repeated: 'is refused',
  },
  {
    write: 'updating a project',
    given: createProject('dairy'),
    request: send(UpdateProject, { params: { projectId: 'dairy' }, body: { name: 'Dairy' } }),
    emits: [
      {
        type: 'project-updated',
        project: 'dairy',
        preData: projectNamed('dairy'),
        data: projectNamed('dairy', { name: 'Dairy' }),
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'changing the settings of a project',
    given: createProject('mill'),
    request: send(UpdateProjectSettings, { params: { projectId: 'mill' }, body: { mode: 'private', featureLimit: 3 } }),
    emits: [
      {
        type: 'project-updated',
        project: 'mill',
        preData: projectNamed('mill'),
        data: projectNamed('mill', { mode: 'private', featureLimit: 3 }),
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'archiving a project',
    given: createProject('forge'),
    request: send(ArchiveProject, { params: { projectId: 'forge' } }),
    emits: [{ type: 'project-archived', project: 'forge' }],
    repeated: 'emits nothing',
  },
  {
    write: 'reviving a project',
    given: inOrder(createProject('kiln'), send(ArchiveProject, { params: { projectId: 'kiln' } })),
    request: send(ReviveProject, { params: { projectId: 'kiln' } }),
    emits: [{ type: 'project-revived', project: 'kiln' }],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting a project with an archived feature and a segment',
    given: inOrder(
      createProject('barn'),
      send(CreateSegment, { body: { name: 'hens', project: 'barn', constraints: [] } }),
      storedFeatures({ project: 'barn', archivedAt }),
    ),
    request: send(DeleteProject, { params: { projectId: 'barn' } }),
    emits: [
      lampEvent('feature-deleted', { project: 'barn', preData: storedLamp({ project: 'barn', archivedAt }) }),
      { type: 'segment-deleted', project: 'barn', preData: { ...segmentNamed('hens'), project: 'barn' } },
      { type: 'project-deleted', project: 'barn' },
    ],
    repeated: 'is refused',
  },
  {
    write: 'adding an environment to a project',
    given: inOrder(createEnvironment('stage'), createProject('theatre')),
    request: send(AddProjectEnvironment, { params: { projectId: 'theatre' }, body: { environment: 'stage' } }),
    emits: [{ type: 'project-environment-added', project: 'theatre', environment: 'stage' }],
    repeated: 'is refused',
  },
  {
    write: 'removing an environment from a project',
    given: createProject('opera'),
    request: send(RemoveProjectEnvironment, { params: { projectId: 'opera', environment: 'production' } }),
    emits: [{ type: 'project-environment-removed', project: 'opera', environment: 'production' }],
    repeated: 'is refused',
  },
  {
    write: 'setting the default strategy of a project in an environment',
    given: createProject('circus'),
    request: send(SetDefaultStrategy, {
      params: { projectId: 'circus', environment: 'development' },
      body: { name: 'flexibleRollout', parameters: { rollout: '10' } },
    }),
    emits: [
      {
        type: 'default-strategy-updated',
        project: 'circus',
        environment: 'development',
        data: {
          name: 'flexibleRollout',
          title: null,
          disabled: false,
          constraints: [],
          variants: [],
          segments: [],
          parameters: { rollout: '10' },
        },
      },
    ],
    repeated: 'emits nothing',
  },
];

/** An environment as events show it. */
const environmentNamed = (name: string, sortOrder = 9) => ({
  name,
  type: 'test',
  sortOrder,
  enabled: true,
  protected: false,
  requiredApprovals: null,
  color: null,
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
