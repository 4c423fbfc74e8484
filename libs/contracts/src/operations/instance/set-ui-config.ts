import { SetUiConfigBody } from '../../model/instance.ts';
import { defineOperation } from '../../operation.ts';

/** Refuses to change origins: a setting of the gateway has them. */
export const SetUiConfig = defineOperation({
  subject: 'call.gateway.set-ui-config',
  operationId: 'setUiConfig',
  summary: 'Set the configuration of user interfaces',
  description:
    'Origins of pages are the setting GATEWAY_FRONTEND_CORS_ORIGINS: the same ones are accepted, others are refused with 403.',
  tag: 'Admin UI',
  http: { method: 'POST', url: '/api/admin/ui-config' },
  permission: 'ADMIN',
  idempotent: true,
  body: SetUiConfigBody,
  errors: ['ValidationError', 'InvalidOperationError'],
});
