import { call, implement, onBehalfOf } from '@bunting/bus';
import { GetLimits, GetUiConfig, unleashVersion } from '@bunting/contracts';
import { maxApiTokens } from '../../domain/api-token.ts';
import type { GatewayContext } from '../context.ts';

/** The parts of Unleash's user interface that it hides unless a flag shows them. */
const flags = {
  P: true,
  RE: true,
  EEA: true,
  SE: true,
  UG: true,
  embedProxy: true,
  embedProxyFrontend: true,
  featuresExportImport: true,
};

/** What user interfaces of Unleash know and Bunting has none of. */
const none = {
  actionSetActions: 0,
  actionSetsPerProject: 0,
  actionSetFilters: 0,
  actionSetFilterValues: 0,
  signalEndpoints: 0,
  signalTokensPerEndpoint: 0,
};

export const getUiConfigEndpoint = ({ bus, instance }: GatewayContext) =>
  implement(GetUiConfig, async (request) => {
    const limits = await call(bus, GetLimits, {}, onBehalfOf(request));
    return {
      name: 'Bunting',
      version: instance.version,
      environment: 'Bunting',
      unleashUrl: instance.publicUrl,
      baseUriPath: '',
      flags,
      frontendApiOrigins: [...instance.frontendOrigins],
      // User interfaces show change requests, groups and roles, which Bunting has, to the edition Enterprise alone.
      versionInfo: {
        current: { oss: unleashVersion, enterprise: unleashVersion },
        latest: {},
        isLatest: true,
        instanceId: await instance.id(),
      },
      segmentValuesLimit: limits.segmentValues,
      strategySegmentsLimit: limits.strategySegments,
      resourceLimits: { ...limits, ...none, apiTokens: maxApiTokens },
      authenticationType: 'custom',
      disablePasswordAuth: true,
      emailEnabled: false,
      maintenanceMode: false,
      networkViewEnabled: false,
      oidcConfiguredThroughEnv: false,
      samlConfiguredThroughEnv: false,
      unleashAIAvailable: false,
      links: [],
    };
  });
