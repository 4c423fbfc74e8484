import { TelemetrySettings } from '../../model/instance.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the telemetry settings: Bunting sends none. */
export const GetTelemetrySettings = defineOperation({
  subject: 'call.gateway.get-telemetry-settings',
  operationId: 'getTelemetrySettings',
  summary: 'Get the telemetry settings',
  description: 'Returns the telemetry settings: Bunting reports nothing.',
  tag: 'Telemetry',
  http: { method: 'GET', url: '/api/admin/telemetry/settings' },
  permission: 'authenticated',
  reply: TelemetrySettings,
});
