import { PersonalDashboard } from '../../model/projects/personal-dashboard.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the projects and features of the caller, the owners of projects and the administrators. */
export const GetPersonalDashboard = defineOperation({
  subject: 'call.features.get-personal-dashboard',
  operationId: 'getPersonalDashboard',
  summary: 'Get the dashboard of the caller',
  description: 'Returns the projects and features of the caller, the owners of projects and the administrators.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/personal-dashboard' },
  permission: 'authenticated',
  reply: PersonalDashboard,
});
