import { onBehalfOf, type Endpoint, implement } from '@bunting/bus';
import {
  type Caller,
  CountResources,
  GetInstanceStatistics,
  GetInstanceStatisticsCsv,
  GetMaintenance,
  GetResourceLimits,
  GetTelemetrySettings,
  GetUiConfig,
  type InstanceStatistics,
  isEqual,
  refusal,
  RefuseOriginChange,
  SearchEvents,
  unleashVersion,
} from '@bunting/contracts';
import { call } from '../../calls.ts';
import type { GatewayContext } from '../context.ts';
import { maxApiTokens } from '../tokens/token.ts';

export function instanceEndpoints(context: GatewayContext): readonly Endpoint[] {
  const { bus, reads, instance, mailer, signInSettings } = context;
  return [
    implement(GetInstanceStatistics, (request) => collectInstanceStatistics(context, request)),
    implement(GetMaintenance, async () => ({ enabled: false })),
    implement(GetTelemetrySettings, async () => ({
      versionInfoCollectionEnabled: false,
      featureInfoCollectionEnabled: false,
    })),
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
    }),
    implement(GetInstanceStatisticsCsv, async (request) =>
      csvOfRecord(await collectInstanceStatistics(context, request)),
    ),
    implement(RefuseOriginChange, async ({ body }) => {
      requireConfiguredOrigins(body.frontendSettings?.frontendApiOrigins, instance.frontendOrigins);
      return null;
    }),
  ];
}

interface StatisticsRequest {
  readonly caller: Caller;
  readonly requestId: string;
  readonly traceparent: string;
  readonly deadline: Date;
  readonly now: Date;
}

const dayMs = 24 * 60 * 60 * 1_000;

/** Collects the statistics from the services that own the counted objects, for the operations that return them as JSON and as CSV. */
async function collectInstanceStatistics(
  { bus, reads, signInSettings }: Pick<GatewayContext, 'bus' | 'reads' | 'signInSettings'>,
  context: StatisticsRequest,
): Promise<InstanceStatistics> {
  const countEvents = async (query: Readonly<Record<string, string>>): Promise<number> =>
    (await call(bus, SearchEvents, { query: { ...query, limit: '1' } }, onBehalfOf(context))).total;
  const [ownStatistics, resources, featureExports, featureImports, instanceId, oidc] = await Promise.all([
    reads.readGatewayStatistics(),
    call(bus, CountResources, {}, onBehalfOf(context)),
    countEvents({ type: 'IS:features-exported' }),
    countEvents({ type: 'IS:features-imported' }),
    reads.instanceId(),
    signInSettings.oidc(),
  ]);
  const { features, archivedFeatures, strategyTypes, applications, productionEnvironments, ...resourceCounts } =
    resources;
  const productionChangesSince = async (days: number): Promise<number> => {
    if (productionEnvironments.length === 0) return 0;
    const from = new Date(context.now.getTime() - days * dayMs).toISOString().slice(0, 10);
    return countEvents({ environment: `IS_ANY_OF:${productionEnvironments.join(',')}`, from: `IS:${from}` });
  };
  const [last30, last60, last90] = await Promise.all([
    productionChangesSince(30),
    productionChangesSince(60),
    productionChangesSince(90),
  ]);
  return {
    timestamp: context.now.toISOString(),
    instanceId,
    versionOSS: unleashVersion,
    versionEnterprise: unleashVersion,
    ...ownStatistics,
    ...resourceCounts,
    featureToggles: features,
    archivedFeatureToggles: archivedFeatures,
    strategies: strategyTypes,
    SAMLenabled: false,
    OIDCenabled: oidc.enabled,
    clientApps: [
      { range: '7d', count: applications.last7 },
      { range: '30d', count: applications.last30 },
      { range: 'allTime', count: applications.allTime },
    ],
    featureExports,
    featureImports,
    productionChanges: { last30, last60, last90 },
  };
}

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

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

function cellOf(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  return typeof value === 'object' ? quote(JSON.stringify(value)) : String(value);
}

/**
 * An object as CSV (RFC 4180): a line with the names of its properties and a line with their values. Arrays and objects are written as
 * JSON.
 */
export function csvOfRecord(record: object): string {
  return [Object.keys(record).map(quote), Object.values(record).map(cellOf)]
    .map((line) => `${line.join(',')}\r\n`)
    .join('');
}

function sorted(origins: readonly string[]): string[] {
  return [...new Set(origins)].toSorted();
}

/**
 * The origins that may call the frontend API are a setting of the gateway; a request may only repeat them, in any order.
 * @param requested undefined if the request names none
 * @throws Refusal `InvalidOperationError` for other origins
 */
export function requireConfiguredOrigins(
  requested: readonly string[] | undefined,
  configured: readonly string[],
): void {
  if (requested === undefined || isEqual(sorted(requested), sorted(configured))) return;
  throw refusal(
    'InvalidOperationError',
    'The origins of pages are the setting GATEWAY_FRONTEND_CORS_ORIGINS: change it there, and restart the gateway.',
  );
}
