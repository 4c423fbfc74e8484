import { ValidateFeatureNameBody } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';

/** Checks a name for a feature. */
export const ValidateFeatureName = defineOperation({
  subject: 'call.features.validate-feature-name',
  operationId: 'validateFeature',
  summary: 'Validate the name of a feature',
  description: 'Validates the name of a new feature. Nothing is stored.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/features/validate' },
  permission: 'authenticated',
  readsOnly: true,
  body: ValidateFeatureNameBody,
  errors: ['ValidationError', 'NameExistsError', 'PatternError'],
});
