import { Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { ActivationQuery, FeatureEnvironmentReply, FeatureNamesBody } from './feature.ts';

const defineOperation = operationsOf('Features');

/** Emits `feature-environment-disabled`, if it was not off already. */
export const DisableFeature = defineOperation({
  subject: 'call.features.disable-feature',
  operationId: 'toggleFeatureEnvironmentOff',
  summary: 'Disable a feature in an environment',
  description: 'Disables a feature in an environment. Its strategies stay as they are.',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/off',
    anyContentType: true,
  },
  ifMatch: 'feature environment',
  permission: 'UPDATE_FEATURE_ENVIRONMENT',
  errors: ['ArchivedFeatureError', 'NotFoundError'],
});

/** Emits `feature-environment-disabled` for each that was enabled. */
export const DisableFeatures = defineOperation({
  subject: 'call.features.disable-features',
  operationId: 'bulkToggleFeaturesEnvironmentOff',
  summary: 'Disable features in an environment',
  description: 'Disables several features of a project in an environment, all or none.',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/bulk_features/environments/:environment/off',
    takesLong: true,
  },
  permission: 'UPDATE_FEATURE_ENVIRONMENT',
  query: ActivationQuery,
  body: FeatureNamesBody,
  errors: ['ValidationError', 'NotFoundError', 'ArchivedFeatureError'],
});

/** Emits `feature-environment-enabled`, if it was not on already. */
export const EnableFeature = defineOperation({
  subject: 'call.features.enable-feature',
  operationId: 'toggleFeatureEnvironmentOn',
  summary: 'Enable a feature in an environment',
  description: 'Enables a feature in an environment. A feature without an enabled strategy gets the default one.',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/on',
    anyContentType: true,
  },
  ifMatch: 'feature environment',
  permission: 'UPDATE_FEATURE_ENVIRONMENT',
  query: Type.Object({
    shouldActivateDisabledStrategies: Type.Optional(
      Type.Boolean({
        description:
          'when strategies are disabled: true enables all of them, false adds the default strategy; default: false',
      }),
    ),
  }),
  errors: ['ValidationError', 'ArchivedFeatureError', 'NotFoundError'],
});

/** Emits `feature-environment-enabled` for each that was disabled, after the events of its strategies. */
export const EnableFeatures = defineOperation({
  subject: 'call.features.enable-features',
  operationId: 'bulkToggleFeaturesEnvironmentOn',
  summary: 'Enable features in an environment',
  description: 'Enables several features of a project in an environment, all or none.',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/bulk_features/environments/:environment/on',
    takesLong: true,
  },
  permission: 'UPDATE_FEATURE_ENVIRONMENT',
  query: ActivationQuery,
  body: FeatureNamesBody,
  errors: ['ValidationError', 'NotFoundError', 'ArchivedFeatureError'],
});

export const GetFeatureEnvironment = defineOperation({
  subject: 'call.features.get-feature-environment',
  summary: 'Get a feature in an environment',
  description: 'Returns whether the feature is enabled in the environment, and its strategies.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment' },
  permission: 'authenticated',
  reply: FeatureEnvironmentReply,
});
