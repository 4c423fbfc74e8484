import { ProjectLeadTimes } from '../../model/projects/project-insights.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Returns how long the features of a project took until they were first enabled in production. */
export const GetProjectDora = defineOperation({
  subject: 'call.features.get-project-dora',
  operationId: 'getProjectDora',
  summary: 'Get the lead times of the features of a project',
  description: 'Returns the times that the features of a project took until they were first enabled in production.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/dora' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectLeadTimes,
});
