import { ArchiveValidation, FeatureNamesBody } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Checks whether features can be archived. */
export const ValidateArchive = defineOperation({
  subject: 'call.features.validate-archive',
  operationId: 'validateArchiveFeatures',
  summary: 'Check whether features can be archived',
  description: 'Names the features that others depend on.',
  tag: 'Archive',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/archive/validate' },
  permission: 'DELETE_FEATURE',
  readsOnly: true,
  params: ProjectPath,
  body: FeatureNamesBody,
  reply: ArchiveValidation,
  errors: ['ValidationError'],
});
