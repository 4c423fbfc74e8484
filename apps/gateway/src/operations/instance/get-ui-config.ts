import { implement, onBehalfOf } from '@bunting/bus';
import { GetResourceLimits, GetUiConfig, unleashVersion } from '@bunting/contracts';
import { call } from '../../calls.ts';
import { maxApiTokens } from '../../access/tokens/token.ts';
import type { GatewayContext } from '../../access/context.ts';

/** Flags that show parts of Unleash's user interface. */
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

/** Limits that Unleash user interfaces require, of resources that Bunting does not have. */
const unsupportedLimits = {
  actionSetActions: 0,
  actionSetsPerProject: 0,
  actionSetFilters: 0,
  actionSetFilterValues: 0,
  signalEndpoints: 0,
  signalTokensPerEndpoint: 0,
};

export const getUiConfigEndpoint = ({ bus, reads, instance, mailer, signInSettings }: GatewayContext) =>
  implement(GetUiConfig, async (request) => {
    const { allowsRegex, ...limits } = await call(bus, GetResourceLimits, {}, onBehalfOf(request));
    return {
      name: 'Bunting',
      version: instance.version,
      environment: 'Bunting',
      unleashUrl: instance.publicUrl,
      baseUriPath: '',
      flags: { ...flags, regexConstraints: allowsRegex },
      frontendApiOrigins: [...instance.frontendOrigins],
      // Unleash user interfaces show change requests, groups and roles for the Enterprise edition only.
      versionInfo: {
        current: { oss: unleashVersion, enterprise: unleashVersion },
        latest: {},
        isLatest: true,
        instanceId: await reads.instanceId(),
      },
      segmentValuesLimit: limits.segmentValues,
      strategySegmentsLimit: limits.strategySegments,
      resourceLimits: { ...limits, ...unsupportedLimits, apiTokens: maxApiTokens },
      authenticationType: 'enterprise',
      disablePasswordAuth: await signInSettings.arePasswordsDisabled(),
      maxImportBytes: instance.maxImportBytes,
      emailEnabled: mailer !== undefined,
      maintenanceMode: false,
      networkViewEnabled: false,
      oidcConfiguredThroughEnv: signInSettings.isReadOnly,
      samlConfiguredThroughEnv: false,
      unleashAIAvailable: false,
      links: [],
    };
  });
