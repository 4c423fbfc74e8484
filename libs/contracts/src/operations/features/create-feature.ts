import { CreateFeatureBody, FeatureWithoutEnvironments } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Creates a feature, disabled in every environment of its project. Emits `feature-created`. */
export const CreateFeature = defineOperation({
  subject: 'call.features.create-feature',
  operationId: 'createFeature',
  summary: 'Create a feature',
  description: 'Creates a feature in the project. It is disabled in every environment and has no strategies.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features', status: 201 },
  permission: 'CREATE_FEATURE',
  params: ProjectPath,
  body: CreateFeatureBody,
  reply: FeatureWithoutEnvironments,
  errors: [
    'ValidationError',
    'PatternError',
    'ExceedsLimitError',
    'NotFoundError',
    'NameExistsError',
    'InvalidOperationError',
  ],
});
