import { FeatureLinkBody } from '../../model/features/feature-link.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Adds a link to a feature. Emits `feature-link-added`. */
export const AddFeatureLink = defineOperation({
  subject: 'call.features.add-feature-link',
  operationId: 'createFeatureLink',
  summary: 'Add a link to a feature',
  description: 'Adds a link to a feature, which has at most ten.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features/:featureName/link', status: 204 },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: ProjectFeaturePath,
  body: FeatureLinkBody,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError'],
});
