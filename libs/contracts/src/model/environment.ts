import { type Static, Type } from 'typebox';
import { UrlFriendlyName } from './text-schemas.ts';
import { Constant, Nullable } from './schema.ts';
import { StrategyProperties } from './strategies/strategy.ts';

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

/** An environment with its counts. */
export const EnvironmentDescription = Type.Object(
  {
    ...Environment.properties,
    protected: Type.Boolean({ description: 'whether it cannot be deleted' }),
    requiredApprovals: Type.Optional(requiredApprovals),
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
  },
  { title: 'createEnvironmentSchema', description: 'The properties of a new environment.' },
);
export type CreateEnvironmentBody = Static<typeof CreateEnvironmentBody>;

export const UpdateEnvironmentBody = Type.Object(
  {
    type: Type.Optional(type),
    sortOrder: Type.Optional(sortOrder),
    requiredApprovals: Type.Optional(requiredApprovals),
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
export type EnvironmentOrder = Static<typeof EnvironmentOrder>;
