import { defineOperation } from '../../operation.ts';
import { FeaturePath } from '../paths.ts';

/** Revives a feature. Emits `feature-revived`. */
export const ReviveFeature = defineOperation({
  subject: 'call.features.revive-feature',
  operationId: 'reviveFeature',
  summary: 'Revive a feature',
  description: 'Brings an archived feature back, disabled in every environment.',
  tag: 'Archive',
  http: { method: 'POST', url: '/api/admin/archive/revive/:featureName', anyContentType: true },
  permission: 'UPDATE_FEATURE',
  params: FeaturePath,
  errors: ['NotFoundError', 'ConflictError', 'InvalidOperationError', 'ExceedsLimitError'],
});
