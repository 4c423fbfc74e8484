import { UiConfig } from '../../model/instance.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the configuration of the user interface. */
export const GetUiConfig = defineOperation({
  subject: 'call.gateway.get-ui-config',
  operationId: 'getUiConfig',
  summary: 'Get the configuration of user interfaces',
  description:
    'Returns name, version, limits and settings of this installation, in the form that user interfaces of Unleash expect.',
  tag: 'Admin UI',
  http: { method: 'GET', url: '/api/admin/ui-config' },
  permission: 'authenticated',
  reply: UiConfig,
});
