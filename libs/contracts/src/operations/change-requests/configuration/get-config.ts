import { Type } from 'typebox';
import { ChangeRequestEnvironmentConfig } from '../../../model/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ProjectPath } from '../../paths.ts';

/** Get the change request configuration of a project. */
export const GetChangeRequestConfig = defineOperation({
  subject: 'call.change-requests.get-config',
  operationId: 'getProjectChangeRequestConfig',
  summary: 'Get the change request configuration of a project',
  description: 'Says which environments of a project are protected by change requests.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/config' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: Type.Array(ChangeRequestEnvironmentConfig, {
    title: 'changeRequestConfigSchema',
    description: 'The environments of the project, in their order.',
  }),
  errors: ['NotFoundError'],
});
