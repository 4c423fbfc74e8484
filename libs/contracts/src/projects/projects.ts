import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { Constant, notBlank, Nullable, Timestamp, UrlFriendlyName, urlFriendlyPattern } from '../schemas.ts';
import { FeatureNaming, ProjectOwner, ProjectWithFeatures } from './overview.ts';

const defineOperation = operationsOf('Projects');

const mode = Type.Enum(['open', 'protected', 'private'], {
  type: 'string',
  description: '`open`: anyone may propose changes; `protected`: members only; `private`: invisible to others as well',
});
const description = Nullable(Type.String(), { description: 'the description of the project' });
const featureLimit = Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }), {
  description: 'the maximum number of active features of the project; null: unlimited',
});

export const Project = Type.Object(
  {
    id: Type.String({ description: 'the id of the project' }),
    name: Type.String({ description: 'the name of the project' }),
    description: Type.Optional(description),
    mode: Type.Optional(mode),
    defaultStickiness: Type.Optional(Type.String({ description: 'the stickiness that new strategies get' })),
    featureCount: Type.Optional(Type.Integer({ description: 'the number of features that are not archived' })),
    memberCount: Type.Optional(
      Type.Integer({ description: 'the number of users who have a role in it, themselves or through a group' }),
    ),
    owners: Type.Optional(Type.Array(ProjectOwner, { description: 'the owners: users, then groups, by name' })),
    health: Type.Optional(Type.Number({ description: 'the share of features that are not stale, in percent' })),
    favorite: Type.Optional(Type.Boolean({ description: 'whether it is a favourite of the caller' })),
    createdAt: Type.Optional(Nullable(Timestamp('when the project was created'))),
    archivedAt: Type.Optional(Nullable(Timestamp('when the project was archived'))),
    lastUpdatedAt: Type.Optional(
      Nullable(Timestamp('when its newest event happened'), {
        description: 'the time of its newest event; null if it has none',
      }),
    ),
    lastReportedFlagUsage: Type.Optional(
      Nullable(Timestamp('when an SDK last reported use of one of its features'), {
        description: 'when an SDK last reported use of one of its features',
      }),
    ),
  },
  { title: 'projectSchema', description: 'A group of features that belong together.' },
);
export type Project = Static<typeof Project>;

export const Projects = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    projects: Type.Array(Project, { description: 'the projects, by name' }),
  },
  { title: 'projectsSchema', description: 'The projects.' },
);
export type Projects = Static<typeof Projects>;

/** Which projects a list has. */
export const ProjectsQuery = Type.Object({
  archived: Type.Optional(
    Type.Boolean({ description: '`true`: only the archived projects; otherwise only the active ones' }),
  ),
});
export type ProjectsQuery = Static<typeof ProjectsQuery>;

export const CreateProjectBody = Type.Object(
  {
    id: Type.Optional(
      Nullable(Type.String({ maxLength: 100, documentedPattern: `^\\s*$|${urlFriendlyPattern}` }), {
        description: 'the id: 1 to 100 characters that need no escape in a URL; made from the name when blank',
      }),
    ),
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      ...notBlank,
      description: 'the name of the project',
    }),
    description: Type.Optional(description),
    mode: Type.Optional(
      Type.Enum(['open', 'protected', 'private'], {
        type: 'string',
        description: 'the mode, which sets who may see and change the project; default: open',
      }),
    ),
    defaultStickiness: Type.Optional(
      Type.String({ description: 'the stickiness that new strategies get; default: `default`' }),
    ),
    environments: Type.Optional(
      Type.Array(Type.String(), {
        description: 'the environments of the project: default: every enabled one; none if empty',
      }),
    ),
    featureLimit: Type.Optional(featureLimit),
  },
  { title: 'createProjectSchema', description: 'The properties of a new project.' },
);
export type CreateProjectBody = Static<typeof CreateProjectBody>;

export const CreatedProject = Type.Object(
  {
    id: Type.String({ description: 'the id of the project' }),
    name: Type.String({ description: 'the name of the project' }),
    description: Type.Optional(description),
    mode,
    defaultStickiness: Type.String({ description: 'the stickiness that new strategies get' }),
    environments: Type.Array(Type.String(), { description: 'the environments of the project' }),
    featureLimit: Type.Optional(featureLimit),
  },
  { title: 'projectCreatedSchema', description: 'A project that was just created.' },
);
export type CreatedProject = Static<typeof CreatedProject>;

export const UpdateProjectBody = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      ...notBlank,
      description: 'the name of the project',
    }),
    description: Type.Optional(description),
    mode: Type.Optional(mode),
    defaultStickiness: Type.Optional(Type.String({ description: 'the stickiness that new strategies get' })),
    featureLimit: Type.Optional(featureLimit),
  },
  { title: 'updateProjectSchema', description: 'The new properties of a project.' },
);
export type UpdateProjectBody = Static<typeof UpdateProjectBody>;

export const ProjectSettingsBody = Type.Object(
  {
    mode: Type.Optional(mode),
    featureNaming: Type.Optional(FeatureNaming),
    featureLimit: Type.Optional(featureLimit),
    defaultStickiness: Type.Optional(Type.String({ description: 'the stickiness that new strategies get' })),
  },
  {
    title: 'updateProjectEnterpriseSettingsSchema',
    description: 'Settings of a project. Omitted settings do not change.',
  },
);
export type ProjectSettingsBody = Static<typeof ProjectSettingsBody>;

export const ProjectIdBody = Type.Object(
  { id: UrlFriendlyName('the id to check') },
  { title: 'validateProjectSchema', description: 'An id to be checked.' },
);

export const ProjectEnvironmentBody = Type.Object(
  { environment: Type.String({ minLength: 1, description: 'the environment to add' }) },
  { title: 'projectEnvironmentSchema', description: 'An environment that a project is to have.' },
);

/** Emits `project-archived`. */
export const ArchiveProject = defineOperation({
  subject: 'call.features.archive-project',
  summary: 'Archive a project',
  description: 'Archives a project that has no active feature.',
  http: { method: 'POST', url: '/api/admin/projects/archive/:projectId', anyContentType: true },
  permission: 'DELETE_PROJECT',
  errors: ['NotFoundError', 'InvalidOperationError'],
});

/** Emits `project-created`. */
export const CreateProject = defineOperation({
  subject: 'call.features.create-project',
  summary: 'Create a project',
  description: 'Creates a project in the environments that are named, or in every enabled one.',
  http: { method: 'POST', url: '/api/admin/projects', status: 201 },
  permission: 'CREATE_PROJECT',
  body: CreateProjectBody,
  reply: CreatedProject,
  changesProjectVisibility: true,
  errors: ['ValidationError', 'ExceedsLimitError', 'NameExistsError'],
});

/** Emits `project-deleted`, after `feature-deleted` for each archived feature. */
export const DeleteProject = defineOperation({
  subject: 'call.features.delete-project',
  summary: 'Delete a project',
  description: 'Deletes a project that has no active feature, with its archived ones.',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId', anyContentType: true, takesLong: true },
  permission: 'DELETE_PROJECT',
  changesProjectVisibility: true,
  errors: ['NotFoundError', 'InvalidOperationError'],
});

export const GetDeprecatedProjectOverview = defineOperation({
  subject: 'call.features.get-deprecated-project-overview',
  summary: 'Get a project with its features',
  description: 'Returns a project, its environments and its features.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId' },
  isHeavy: true,
  permission: 'authenticated',
  reply: ProjectWithFeatures,
  deprecated: true,
});

export const ListProjects = defineOperation({
  subject: 'call.features.list-projects',
  operationId: 'getProjects',
  summary: 'List the projects',
  description: 'Returns the active projects that the caller may see, or the archived ones.',
  http: { method: 'GET', url: '/api/admin/projects' },
  permission: 'authenticated',
  query: ProjectsQuery,
  reply: Projects,
});

export const CountFeaturesOfProjects = defineOperation({
  subject: 'call.features.count-features-of-projects',
  summary: 'Count the features of all projects',
  description:
    'Returns how many active features each active project has that the caller may see, how many of them are enabled in a production environment, and how many are stale. Projects without features are left out.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/search/projects/feature-counts' },
  permission: 'authenticated',
  reply: Type.Object(
    {
      projects: Type.Array(
        Type.Object({
          id: Type.String({ description: 'the id of the project' }),
          features: Type.Integer({ description: 'the number of features that are not archived' }),
          live: Type.Integer({ description: 'how many of them are enabled in an environment of the type production' }),
          stale: Type.Integer({ description: 'how many of them are stale' }),
        }),
        { description: 'by id' },
      ),
    },
    { title: 'featureCountsOfProjectsSchema', description: 'The numbers of features of projects.' },
  ),
});

/** Emits `project-revived`. */
export const ReviveProject = defineOperation({
  subject: 'call.features.revive-project',
  summary: 'Revive a project',
  description: 'Brings an archived project back.',
  http: { method: 'POST', url: '/api/admin/projects/revive/:projectId', anyContentType: true },
  permission: 'DELETE_PROJECT',
});

/** Emits `project-updated`. */
export const UpdateProjectSettings = defineOperation({
  subject: 'call.features.update-project-settings',
  operationId: 'updateProjectEnterpriseSettings',
  summary: 'Update the mode, naming pattern and feature limit of a project',
  description:
    'The name, the description and the default stickiness are changed by `PUT /api/admin/projects/{projectId}`.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/settings' },
  permission: ['UPDATE_PROJECT', 'PROJECT_SETTINGS_WRITE'],
  body: ProjectSettingsBody,
  changesProjectVisibility: true,
  errors: ['ValidationError', 'PatternError', 'NotFoundError'],
});

/** Emits `project-updated`. */
export const UpdateProject = defineOperation({
  subject: 'call.features.update-project',
  summary: 'Update the name, description, mode, default stickiness and feature limit of a project',
  description: 'The naming pattern is changed by `PUT /api/admin/projects/{projectId}/settings`.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId' },
  permission: 'UPDATE_PROJECT',
  body: UpdateProjectBody,
  changesProjectVisibility: true,
});

export const ValidateProjectId = defineOperation({
  subject: 'call.features.validate-project-id',
  operationId: 'validateProject',
  summary: 'Validate the id of a project',
  description: 'Validates the id of a new project. Nothing is stored.',
  http: { method: 'POST', url: '/api/admin/projects/validate' },
  permission: 'CREATE_PROJECT',
  readsOnly: true,
  body: ProjectIdBody,
  errors: ['ValidationError', 'NameExistsError'],
});
