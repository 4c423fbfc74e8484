import { MoveFeatureBody } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Moves a feature to another project. Emits `feature-project-change`. */
export const MoveFeature = defineOperation({
  subject: 'call.features.move-feature',
  operationId: 'changeProject',
  summary: 'Move a feature to another project',
  description:
    'Both projects must have the same environments, and the feature no dependencies. Where either project has protected environments, the caller must have the permission SKIP_CHANGE_REQUEST in each of them.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features/:featureName/changeProject' },
  ifMatch: 'feature',
  permission: 'MOVE_FEATURE_TOGGLE',
  params: ProjectFeaturePath,
  body: MoveFeatureBody,
  errors: ['ValidationError', 'NotFoundError', 'IncompatibleProjectError', 'ForbiddenError', 'InvalidOperationError'],
});
