import { implement } from '@bunting/bus';
import { GetTelemetrySettings } from '@bunting/contracts';

export const getTelemetrySettingsEndpoint = () =>
  implement(GetTelemetrySettings, async () => ({
    versionInfoCollectionEnabled: false,
    featureInfoCollectionEnabled: false,
  }));
