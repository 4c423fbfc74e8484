import { type Static, Type } from 'typebox';
import { urlFriendlyPattern } from '../documented-patterns.ts';
import { notBlank, UrlFriendlyName } from '../text-schemas.ts';
import { FeatureNaming } from './project-overview.ts';
import { ProjectOwner } from './project-owner.ts';
import { Constant, Nullable, Timestamp } from '../schema.ts';

const mode = Type.Enum(['open', 'protected', 'private'], {
  type: 'string',
  description: '`open`: anyone may propose changes; `protected`: members only; `private`: invisible to others as well',
});
const description = Nullable(Type.String(), { description: 'the description of the project' });
const featureLimit = Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }), {
  description: 'the maximum number of active features of the project; null: unlimited',
});

/** A group of features that belong together. */
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

/** The properties of a new project. */
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

/** A project that was just created. */
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
export type ProjectIdBody = Static<typeof ProjectIdBody>;

export const ProjectEnvironmentBody = Type.Object(
  { environment: Type.String({ minLength: 1, description: 'the environment to add' }) },
  { title: 'projectEnvironmentSchema', description: 'An environment that a project is to have.' },
);
export type ProjectEnvironmentBody = Static<typeof ProjectEnvironmentBody>;
