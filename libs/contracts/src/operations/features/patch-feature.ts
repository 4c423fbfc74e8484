import { FeatureWithoutEnvironments } from '../../model/features/feature.ts';
import { JsonPatch } from '../../model/json-patch.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Patches a feature. Emits `feature-metadata-updated`, then `feature-stale-on` or `feature-stale-off` when that changed. */
export const PatchFeature = defineOperation({
  subject: 'call.features.patch-feature',
  operationId: 'patchFeature',
  summary: 'Patch a feature',
  description:
    'Applies JSON patch operations to the description, the type, the impression data and the stale mark of a feature.',
  tag: 'Features',
  http: { method: 'PATCH', url: '/api/admin/projects/:projectId/features/:featureName' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: ProjectFeaturePath,
  body: JsonPatch,
  reply: FeatureWithoutEnvironments,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError'],
});
