import { TelemetrySettings } from '../../model/instance.ts';
import { defineOperation } from '../../operation.ts';

/** Read what Bunting reports to others. */
export const GetTelemetrySettings = defineOperation({
  subject: 'call.gateway.get-telemetry-settings',
  operationId: 'getTelemetrySettings',
  summary: 'Read the telemetry settings',
  description: 'Returns what Bunting reports to others: nothing.',
  tag: 'Telemetry',
  http: { method: 'GET', url: '/api/admin/telemetry/settings' },
  permission: 'authenticated',
  reply: TelemetrySettings,
});
