import { ValidateFeatureNameBody } from '../../model/feature.ts';
import { defineOperation } from '../../operation.ts';

/** Check a name for a feature. */
export const ValidateFeatureName = defineOperation({
  subject: 'call.features.validate-feature-name',
  operationId: 'validateFeature',
  summary: 'Check a name for a feature',
  description: 'Says whether a feature of this name could be created.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/features/validate' },
  permission: 'authenticated',
  idempotent: true,
  body: ValidateFeatureNameBody,
  errors: ['ValidationError', 'NameExistsError', 'PatternError'],
});
