import { OutdatedSdks } from '../../model/sdks/application.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Lists the outdated SDKs of the applications that use a project. */
export const ListOutdatedSdks = defineOperation({
  subject: 'call.features.list-outdated-sdks',
  operationId: 'getOutdatedProjectSdks',
  summary: 'List outdated SDKs of a project',
  description:
    'Returns the SDKs of applications that use the project, of which an instance here has a newer major version.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/sdks/outdated' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: OutdatedSdks,
  errors: ['NotFoundError'],
});
