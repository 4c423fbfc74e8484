import {
  AddProjectEnvironment,
  ArchiveProject,
  CreateProject,
  CreateSegment,
  DeleteProject,
  RemoveProjectEnvironment,
  ReviveProject,
  SetDefaultStrategy,
  UpdateProject,
  UpdateProjectSettings,
} from '@bunting/contracts';
import { type CatalogueRow, inOrder, send, type Step } from '../event-catalogue.ts';
import { archivedAt, createEnvironment, lampEvent, segmentNamed, storedFeatures, storedLamp } from './fixtures.ts';

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
