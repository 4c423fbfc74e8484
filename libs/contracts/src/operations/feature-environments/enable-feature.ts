import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { FeatureEnvironmentPath } from '../paths.ts';

/** Turns a feature on in an environment. Emits `feature-environment-enabled`, if it was not on already. */
export const EnableFeature = defineOperation({
  subject: 'call.features.enable-feature',
  operationId: 'toggleFeatureEnvironmentOn',
  summary: 'Enable a feature in an environment',
  description: 'Enables a feature in an environment. A feature without an enabled strategy gets the default one.',
  tag: 'Features',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/on',
    anyContentType: true,
  },
  ifMatch: 'feature environment',
  permission: 'UPDATE_FEATURE_ENVIRONMENT',
  params: FeatureEnvironmentPath,
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
