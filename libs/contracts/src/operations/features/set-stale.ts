import { SetStaleBody } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Sets whether features are stale. Emits `feature-stale-on` or `feature-stale-off` for each feature that changed. */
export const SetStale = defineOperation({
  subject: 'call.features.set-stale',
  operationId: 'staleFeatures',
  summary: 'Set whether features are stale',
  description: 'Marks features of a project as stale or not. Names that do not exist are ignored.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/stale', status: 202, takesLong: true },
  permission: 'UPDATE_FEATURE',
  params: ProjectPath,
  body: SetStaleBody,
  errors: ['ValidationError', 'InvalidOperationError'],
});
