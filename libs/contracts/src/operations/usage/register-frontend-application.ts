import { Accepted, RegisterApplicationBody } from '../../model/sdks/usage.ts';
import { defineOperation } from '../../operation.ts';

/** Registers a browser or app. Emits `application-created` the first time. */
export const RegisterFrontendApplication = defineOperation({
  subject: 'call.features.register-frontend-application',
  operationId: 'registerFrontendClient',
  summary: 'Register a browser or app',
  description: 'Registers a browser or app that evaluates flags. Environment and projects are those of the token.',
  tag: 'Frontend API',
  http: { method: 'POST', url: '/api/frontend/client/register', contentType: 'text/plain' },
  permission: 'FRONTEND',
  body: RegisterApplicationBody,
  reply: Accepted,
  errors: ['ValidationError'],
});
