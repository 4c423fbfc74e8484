import { CloneFeatureBody, FeatureWithoutEnvironments } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Clones a feature. Emits `feature-created`, `feature-strategy-add` for each strategy, and `feature-dependency-added` when it has a parent. */
export const CloneFeature = defineOperation({
  subject: 'call.features.clone-feature',
  operationId: 'cloneFeature',
  summary: 'Clone a feature',
  description:
    'Creates a feature like this one: its type, description, strategies, variants and parent, but disabled everywhere and without its tags.',
  tag: 'Features',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/clone',
    status: 201,
    anyContentType: true,
  },
  permission: 'CREATE_FEATURE',
  params: ProjectFeaturePath,
  body: CloneFeatureBody,
  reply: FeatureWithoutEnvironments,
  errors: [
    'ValidationError',
    'NotFoundError',
    'NameExistsError',
    'PatternError',
    'ExceedsLimitError',
    'InvalidOperationError',
    'ForbiddenError',
    'ArchivedFeatureError',
  ],
});
