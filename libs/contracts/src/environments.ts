import { type Static, Type } from 'typebox';
import { operationsOf } from './operation.ts';
import { Constant, Nullable, UrlFriendlyName, ValidateNameBody } from './schemas.ts';
import { StrategyProperties } from './strategies/strategies.ts';

const defineOperation = operationsOf('Environments');

/** An environment, such as production, in which features are enabled and disabled. */
export const Environment = Type.Object(
  {
    name: Type.String({ description: 'the name of the environment' }),
    type: Type.String({ description: 'the type, such as development or production' }),
    sortOrder: Type.Integer({ description: 'the position in the list of environments' }),
    enabled: Type.Boolean({ description: 'whether the environment is in use' }),
  },
  { description: 'An environment, in which each feature is enabled or disabled.' },
);
export type Environment = Static<typeof Environment>;

const type = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'the type, such as development or production; production is special',
});
const sortOrder = Type.Integer({
  minimum: 0,
  maximum: 1_000_000_000,
  description: 'the position in the list of environments',
});

const requiredApprovals = Nullable(Type.Integer({ minimum: 1, maximum: 10 }), {
  description:
    'the minimum number of approvals that a project can set for change requests there, and the default; earlier settings do not change; null: each project decides',
});

/** The colours by which people tell environments apart. The console draws each with enough contrast in light and in dark. */
export const environmentColors = ['red', 'orange', 'yellow', 'green', 'teal', 'blue', 'purple', 'grey'] as const;
export type EnvironmentColor = (typeof environmentColors)[number];

const color = Nullable(Type.Enum([...environmentColors], { type: 'string' }), {
  description: 'the colour by which people recognise it; null, or absent in a reply: none was chosen',
});

export const EnvironmentDescription = Type.Object(
  {
    ...Environment.properties,
    protected: Type.Boolean({ description: 'whether it cannot be deleted' }),
    requiredApprovals: Type.Optional(requiredApprovals),
    color: Type.Optional(color),
    projectCount: Type.Optional(Type.Integer({ description: 'the number of projects that use it' })),
    apiTokenCount: Type.Optional(Type.Integer({ description: 'the number of tokens for it' })),
    enabledToggleCount: Type.Optional(Type.Integer({ description: 'the number of features that are enabled in it' })),
  },
  { title: 'environmentSchema', description: 'An environment, in which each feature is enabled or disabled.' },
);
export type EnvironmentDescription = Static<typeof EnvironmentDescription>;

export const EnvironmentList = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    environments: Type.Array(EnvironmentDescription, { description: 'in their order' }),
  },
  { title: 'environmentsSchema', description: 'The environments.' },
);
export type EnvironmentList = Static<typeof EnvironmentList>;

export const EnvironmentListOfProject = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    environments: Type.Array(
      Type.Object(
        {
          ...Environment.properties,
          protected: Type.Boolean({ description: 'whether it cannot be deleted' }),
          requiredApprovals: Type.Optional(requiredApprovals),
          color: Type.Optional(color),
          projectApiTokenCount: Type.Optional(
            Type.Integer({ description: 'the number of tokens for it and the project' }),
          ),
          projectEnabledToggleCount: Type.Optional(
            Type.Integer({ description: 'the number of features of the project that are enabled in it' }),
          ),
          defaultStrategy: Type.Optional(Nullable(StrategyProperties)),
          visible: Type.Optional(Type.Boolean({ description: 'whether the project uses it' })),
        },
        { title: 'environmentProjectSchema', description: 'An environment, with the figures of a project in it.' },
      ),
      { description: 'in their order' },
    ),
  },
  { title: 'environmentsProjectSchema', description: 'The environments, with the figures of a project in them.' },
);
export type EnvironmentListOfProject = Static<typeof EnvironmentListOfProject>;

export const CreateEnvironmentBody = Type.Object(
  {
    name: UrlFriendlyName('the name: 1 to 100 characters that need no escape in a URL'),
    type,
    enabled: Type.Optional(Type.Boolean({ description: 'whether new projects get it; default: true' })),
    sortOrder: Type.Optional(sortOrder),
    requiredApprovals: Type.Optional(requiredApprovals),
    color: Type.Optional(color),
  },
  { title: 'createEnvironmentSchema', description: 'The properties of a new environment.' },
);
export type CreateEnvironmentBody = Static<typeof CreateEnvironmentBody>;

export const UpdateEnvironmentBody = Type.Object(
  {
    type: Type.Optional(type),
    sortOrder: Type.Optional(sortOrder),
    requiredApprovals: Type.Optional(requiredApprovals),
    color: Type.Optional(color),
  },
  { title: 'updateEnvironmentSchema', description: 'The new properties of an environment.' },
);
export type UpdateEnvironmentBody = Static<typeof UpdateEnvironmentBody>;

export const CloneEnvironmentBody = Type.Object(
  {
    name: UrlFriendlyName('the name of the clone: 1 to 100 characters that need no escape in a URL'),
    type: Type.Optional(type),
    projects: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 1_000,
        description: 'the projects that get the clone; `*` or absent: every project that has the environment',
      }),
    ),
    clonePermissions: Type.Optional(
      Type.Boolean({
        description: 'whether roles get the permissions there that they have in the environment; default: true',
      }),
    ),
  },
  { title: 'cloneEnvironmentSchema', description: 'The properties of the clone of an environment.' },
);
export type CloneEnvironmentBody = Static<typeof CloneEnvironmentBody>;

export const EnvironmentOrder = Type.Unsafe<Record<string, number>>({
  title: 'sortOrderSchema',
  type: 'object',
  additionalProperties: { type: 'integer', minimum: 0, maximum: 1_000_000_000 },
  description: 'The positions of environments, by name.',
});

/** Emits `environment-created`, `project-environment-added` for each project, and for each feature the events of its settings: `feature-strategy-add`, `feature-environment-variants-updated`, `feature-environment-enabled`. */
export const CloneEnvironment = defineOperation({
  subject: 'call.features.clone-environment',
  summary: 'Clone an environment',
  description:
    'Adds an environment to projects, with the settings of their features in another one: strategies under new ids, variants, and whether they are enabled.',
  http: { method: 'POST', url: '/api/admin/environments/:name/clone', takesLong: true },
  permission: 'ADMIN',
  body: CloneEnvironmentBody,
  reply: EnvironmentDescription,
  errors: ['ValidationError', 'NotFoundError', 'NameExistsError', 'ExceedsLimitError'],
});

/** Emits `environment-created`. */
export const CreateEnvironment = defineOperation({
  subject: 'call.features.create-environment',
  summary: 'Create an environment',
  description: 'Adds an environment. Projects get it when it is added to them.',
  http: { method: 'POST', url: '/api/admin/environments', status: 201 },
  permission: 'ADMIN',
  body: CreateEnvironmentBody,
  reply: EnvironmentDescription,
  errors: ['ValidationError', 'NameExistsError', 'ExceedsLimitError'],
});

/** Emits `project-environment-removed` for each of its projects, and `environment-deleted`. */
export const DeleteEnvironment = defineOperation({
  subject: 'call.features.delete-environment',
  operationId: 'removeEnvironment',
  summary: 'Delete an environment',
  description:
    'Removes an environment that is not protected and in which no feature is enabled, from its projects, with the settings of features in it. Its tokens, and the permissions of roles in it, end.',
  http: { method: 'DELETE', url: '/api/admin/environments/:name', anyContentType: true, takesLong: true },
  ifMatch: 'environment',
  permission: 'ADMIN',
  changesProjectVisibility: true,
  errors: ['NotFoundError', 'ConflictError', 'OperationDeniedError'],
});

export const GetEnvironment = defineOperation({
  subject: 'call.features.get-environment',
  summary: 'Get an environment',
  description: 'Returns one environment.',
  http: { method: 'GET', url: '/api/admin/environments/:name' },
  isHeavy: true,
  permission: 'authenticated',
  reply: EnvironmentDescription,
});

/** Lists the names of all environments, for services that need no more of them. */
export const ListEnvironmentNames = defineOperation({
  subject: 'call.features.list-environment-names',
  summary: 'List the names of the environments, in their order',
  idempotent: true,
  reply: Type.Object({ names: Type.Array(Type.String()) }),
  tag: 'Internal',
});

export const ListEnvironments = defineOperation({
  subject: 'call.features.list-environments',
  operationId: 'getAllEnvironments',
  summary: 'List the environments',
  description: 'Returns every environment with its counts.',
  http: { method: 'GET', url: '/api/admin/environments' },
  isHeavy: true,
  permission: 'authenticated',
  reply: EnvironmentList,
});

/** Emits `environment-updated` for each that moved. */
export const SetEnvironmentOrder = defineOperation({
  subject: 'call.features.set-environment-order',
  operationId: 'updateSortOrder',
  summary: 'Set the order of the environments',
  description: 'Sets the positions of environments, by name.',
  http: { method: 'PUT', url: '/api/admin/environments/sort-order', takesLong: true },
  permission: 'ADMIN',
  body: EnvironmentOrder,
  errors: ['ValidationError', 'NotFoundError'],
});

export const SwitchEnvironmentOff = defineOperation({
  subject: 'call.features.switch-environment-off',
  operationId: 'toggleEnvironmentOff',
  summary: 'Disable an environment',
  description: 'New projects do not get the environment; existing settings in it do not change.',
  http: { method: 'POST', url: '/api/admin/environments/:name/off', status: 204, anyContentType: true },
  ifMatch: 'environment',
  permission: 'ADMIN',
});

export const SwitchEnvironmentOn = defineOperation({
  subject: 'call.features.switch-environment-on',
  operationId: 'toggleEnvironmentOn',
  summary: 'Enable an environment',
  description: 'New projects get the environment.',
  http: { method: 'POST', url: '/api/admin/environments/:name/on', status: 204, anyContentType: true },
  ifMatch: 'environment',
  permission: 'ADMIN',
});

/** Emits `environment-updated`. */
export const UpdateEnvironment = defineOperation({
  subject: 'call.features.update-environment',
  summary: 'Update an environment',
  description: 'Updates the type, the position, the colour or the least approvals of an environment.',
  http: { method: 'PUT', url: '/api/admin/environments/update/:name', takesLong: true },
  ifMatch: 'environment',
  permission: 'ADMIN',
  body: UpdateEnvironmentBody,
  reply: EnvironmentDescription,
});

export const ValidateEnvironmentName = defineOperation({
  subject: 'call.features.validate-environment-name',
  summary: 'Validate the name of an environment',
  description: 'Validates the name of a new environment. Nothing is stored.',
  http: { method: 'POST', url: '/api/admin/environments/validate' },
  permission: 'ADMIN',
  readsOnly: true,
  body: ValidateNameBody,
  errors: ['ValidationError', 'NameExistsError'],
});
