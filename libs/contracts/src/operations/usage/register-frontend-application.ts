import { RegisterApplicationBody } from '../../model/usage.ts';
import { defineOperation } from '../../operation.ts';

/** Register a browser or app. Emits `application-created` the first time. */
export const RegisterFrontendApplication = defineOperation({
  subject: 'call.features.register-frontend-application',
  operationId: 'registerFrontendClient',
  summary: 'Register a browser or app',
  description: 'Says that a browser or app of yours uses the flags. Environment and projects are those of the token.',
  tag: 'Frontend API',
  http: { method: 'POST', url: '/api/frontend/client/register' },
  permission: 'FRONTEND',
  body: RegisterApplicationBody,
  errors: ['ValidationError'],
});
