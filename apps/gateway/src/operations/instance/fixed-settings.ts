import { implement } from '@bunting/bus';
import { GetMaintenance, GetTelemetrySettings } from '@bunting/contracts';

export const getTelemetrySettingsEndpoint = implement(GetTelemetrySettings, async () => ({
  versionInfoCollectionEnabled: false,
  featureInfoCollectionEnabled: false,
}));

export const getMaintenanceEndpoint = implement(GetMaintenance, async () => ({ enabled: false }));
