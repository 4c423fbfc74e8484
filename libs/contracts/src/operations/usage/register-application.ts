import { RegisterApplicationBody } from '../../model/usage.ts';
import { defineOperation } from '../../operation.ts';

/** Register an application. Emits `application-created` the first time. */
export const RegisterApplication = defineOperation({
  subject: 'call.features.register-application',
  operationId: 'registerClientApplication',
  summary: 'Register an application',
  description: 'Says that an application of yours uses the flags. Environment and projects are those of the token.',
  tag: 'Client',
  http: { method: 'POST', url: '/api/client/register', status: 202 },
  permission: 'CLIENT',
  body: RegisterApplicationBody,
  errors: ['ValidationError'],
});
