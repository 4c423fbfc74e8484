import { StrategyProperties, CreateStrategyBody } from '../../model/strategies/strategy.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectEnvironmentPath } from '../paths.ts';

/** Sets the default strategy. Emits `default-strategy-updated`. */
export const SetDefaultStrategy = defineOperation({
  subject: 'call.features.set-default-strategy',
  operationId: 'addDefaultStrategyToProjectEnvironment',
  summary: 'Set the default strategy',
  description: 'Sets the strategy that a feature gets when it is enabled in the environment without one.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/environments/:environment/default-strategy' },
  permission: ['UPDATE_PROJECT', 'PROJECT_DEFAULT_STRATEGY_WRITE'],
  params: ProjectEnvironmentPath,
  body: CreateStrategyBody,
  reply: StrategyProperties,
  errors: ['ValidationError', 'NotFoundError'],
});
