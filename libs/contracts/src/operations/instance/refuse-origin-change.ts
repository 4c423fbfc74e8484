import { UiConfigBody } from '../../model/instance.ts';
import { defineOperation } from '../../operation.ts';

/** Refuses to change the origins of CORS, which are a setting of the gateway. */
export const RefuseOriginChange = defineOperation({
  subject: 'call.gateway.refuse-origin-change',
  operationId: 'setUiConfig',
  summary: 'Set the configuration of user interfaces',
  description:
    'Origins of pages are the setting GATEWAY_FRONTEND_CORS_ORIGINS: the same ones are accepted, others are refused with 403.',
  tag: 'Admin UI',
  http: { method: 'POST', url: '/api/admin/ui-config' },
  permission: 'ADMIN',
  idempotent: true,
  body: UiConfigBody,
  errors: ['ValidationError', 'InvalidOperationError'],
});
