import { Type } from 'typebox';
import { Environment, EnvironmentListOfProject } from '../environments.ts';
import { operationsOf } from '../operation.ts';
import { ProjectPath } from '../paths.ts';
import { Nullable } from '../schemas.ts';
import { CreateStrategyBody, StrategyProperties } from '../strategies/strategies.ts';
import { ProjectEnvironmentBody } from './projects.ts';

const defineOperation = operationsOf('Projects');

/** Emits `project-environment-added`. */
export const AddProjectEnvironment = defineOperation({
  subject: 'call.features.add-project-environment',
  operationId: 'addEnvironmentToProject',
  summary: 'Add an environment to a project',
  description: 'Adds the environment to every feature of the project, disabled.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/environments', takesLong: true },
  permission: 'UPDATE_PROJECT',
  body: ProjectEnvironmentBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});

/** Lists the environments of a project, for services with settings per environment. */
export const ListEnvironmentSettingsOfProject = defineOperation({
  subject: 'call.features.list-environment-settings-of-project',
  summary: 'List the environments of a project, in their order',
  idempotent: true,
  params: ProjectPath,
  reply: Type.Object({
    environments: Type.Array(
      Type.Object({
        ...Environment.properties,
        requiredApprovals: Type.Optional(Nullable(Type.Integer(), { description: 'the minimum in every project' })),
      }),
    ),
  }),
  errors: ['NotFoundError'],
  tag: 'Internal',
});

/** Lists which environments projects have, for services with settings per environment; those that do not exist or are archived have none. */
export const ListEnvironmentsOfProjects = defineOperation({
  subject: 'call.features.list-environments-of-projects',
  summary: 'List the environments of projects, in their order',
  idempotent: true,
  body: Type.Object({ projects: Type.Array(Type.String()) }),
  reply: Type.Object({
    environments: Type.Array(Type.Object({ project: Type.String(), environment: Type.String() })),
  }),
  tag: 'Internal',
});

export const ListEnvironmentsOfProject = defineOperation({
  subject: 'call.features.list-environments-of-project',
  operationId: 'getProjectEnvironments',
  summary: 'List the environments for a project',
  description: 'Returns every environment, with the figures of the project in it.',
  tag: 'Environments',
  http: { method: 'GET', url: '/api/admin/environments/project/:projectId' },
  isHeavy: true,
  permission: 'authenticated',
  reply: EnvironmentListOfProject,
});

/** Emits `project-environment-removed`. */
export const RemoveProjectEnvironment = defineOperation({
  subject: 'call.features.remove-project-environment',
  operationId: 'removeEnvironmentFromProject',
  summary: 'Remove an environment from a project',
  description:
    'Removes every strategy and state that features of the project have in the environment. For a protected environment the caller also needs the permission SKIP_CHANGE_REQUEST.',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/environments/:environment',
    anyContentType: true,
    takesLong: true,
  },
  permission: 'UPDATE_PROJECT',
});

/** Emits `default-strategy-updated`. */
export const SetDefaultStrategy = defineOperation({
  subject: 'call.features.set-default-strategy',
  operationId: 'addDefaultStrategyToProjectEnvironment',
  summary: 'Set the default strategy',
  description: 'Sets the strategy that a feature gets when it is enabled in the environment without one.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/environments/:environment/default-strategy' },
  permission: ['UPDATE_PROJECT', 'PROJECT_DEFAULT_STRATEGY_WRITE'],
  body: CreateStrategyBody,
  reply: StrategyProperties,
});
