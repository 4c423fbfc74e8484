import { RegisterApplicationBody } from '../../model/sdks/usage.ts';
import { defineOperation } from '../../operation.ts';

/** Registers an application. Emits `application-created` the first time. */
export const RegisterApplication = defineOperation({
  subject: 'call.features.register-application',
  operationId: 'registerClientApplication',
  summary: 'Register an application',
  description: 'Registers an application that evaluates flags. Environment and projects are those of the token.',
  tag: 'Client',
  http: { method: 'POST', url: '/api/client/register', status: 202 },
  permission: 'CLIENT',
  body: RegisterApplicationBody,
  errors: ['ValidationError'],
});
