import { SetStaleBody } from '../../model/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Mark features as stale, or not. Emits `feature-stale-on` or `feature-stale-off` for each feature that changed. */
export const SetStale = defineOperation({
  subject: 'call.features.set-stale',
  operationId: 'staleFeatures',
  summary: 'Mark features as stale, or not',
  description: 'Marks features of a project as stale or not. Names that do not exist are ignored.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/stale', status: 202 },
  permission: 'UPDATE_FEATURE',
  params: ProjectPath,
  body: SetStaleBody,
  errors: ['ValidationError', 'InvalidOperationError'],
});
