import { type Static, Type } from 'typebox';
import { defineOperation } from './operation.ts';
import { maxId, Timestamp } from './schemas.ts';

/** The version of Unleash whose API Bunting serves. */
export const unleashVersion = '6.4.1';

/** The number that stands for an absent limit, because clients expect a number. */
export const noLimit = maxId;

function limit(description: string) {
  return Type.Integer({ minimum: 0, description });
}
const alwaysZero = limit('always 0: Bunting has none');

export const ResourceLimits = Type.Object(
  {
    segmentValues: limit('values of one segment'),
    strategySegments: limit('segments of one strategy'),
    actionSetActions: alwaysZero,
    actionSetsPerProject: alwaysZero,
    actionSetFilters: alwaysZero,
    actionSetFilterValues: alwaysZero,
    signalEndpoints: alwaysZero,
    signalTokensPerEndpoint: alwaysZero,
    featureEnvironmentStrategies: limit('strategies of one feature in one environment'),
    constraintValues: limit('values of one constraint'),
    constraints: limit('constraints of one strategy'),
    environments: limit('environments'),
    projects: limit('projects'),
    apiTokens: limit('API tokens'),
    segments: limit('segments'),
    featureFlags: limit(`active features; ${noLimit} where there is no limit`),
  },
  { title: 'resourceLimitsSchema', description: 'The limits of resources.' },
);
export type ResourceLimits = Static<typeof ResourceLimits>;

const servedUnleashVersion = Type.String({ description: 'the version of Unleash whose API this is' });

/** The configuration that user interfaces of Unleash read. */
export const UiConfig = Type.Object(
  {
    name: Type.String({ description: 'the name of the product' }),
    version: Type.String({ description: 'the version of the product' }),
    environment: Type.String({ description: 'the edition' }),
    unleashUrl: Type.String({ description: 'the public address of this installation; empty if it is not configured' }),
    baseUriPath: Type.String({ description: 'always empty' }),
    flags: Type.Unsafe<Record<string, boolean>>({
      type: 'object',
      additionalProperties: { type: 'boolean' },
      description: 'parts of the user interface that have a counterpart here',
    }),
    frontendApiOrigins: Type.Array(Type.String(), {
      description: 'origins whose pages may call the frontend API; `*` for every one',
    }),
    versionInfo: Type.Object({
      current: Type.Object({ oss: servedUnleashVersion, enterprise: servedUnleashVersion }),
      latest: Type.Object({}),
      isLatest: Type.Boolean({ description: 'always true: Bunting does not look for newer versions' }),
      instanceId: Type.String({ description: 'identifies this installation' }),
    }),
    segmentValuesLimit: limit('values of one segment'),
    strategySegmentsLimit: limit('segments of one strategy'),
    resourceLimits: ResourceLimits,
    authenticationType: Type.String({
      description: 'always `enterprise`: people sign in with a password or by single sign-on',
    }),
    disablePasswordAuth: Type.Boolean({ description: 'whether passwords are turned off in favour of single sign-on' }),
    maxImportBytes: Type.Integer({ description: 'maximum bytes of the body of an import' }),
    emailEnabled: Type.Boolean({ description: 'whether a mail server is set' }),
    maintenanceMode: Type.Boolean({ description: 'always false' }),
    networkViewEnabled: Type.Boolean({ description: 'always false' }),
    oidcConfiguredThroughEnv: Type.Boolean({ description: 'whether the settings `OIDC_*` configure OpenID Connect' }),
    samlConfiguredThroughEnv: Type.Boolean({ description: 'always false' }),
    unleashAIAvailable: Type.Boolean({ description: 'always false' }),
    links: Type.Array(Type.Object({}), { description: 'always empty' }),
  },
  { title: 'uiConfigSchema', description: 'The configuration of this installation for user interfaces.' },
);
export type UiConfig = Static<typeof UiConfig>;

export const UiConfigBody = Type.Object(
  {
    frontendSettings: Type.Optional(
      Type.Object({
        frontendApiOrigins: Type.Array(Type.String({ maxLength: 2_048 }), {
          maxItems: 1_000,
          description: 'origins whose pages may call the frontend API',
        }),
      }),
    ),
  },
  { title: 'setUiConfigSchema', description: 'The configuration of this installation that a user interface sets.' },
);

function count(description: string) {
  return Type.Integer({ minimum: 0, description });
}

/** The counts of resources and of their use. */
export const InstanceStatistics = Type.Object(
  {
    timestamp: Timestamp('when it was counted'),
    instanceId: Type.String({ description: 'identifies this installation' }),
    versionOSS: servedUnleashVersion,
    versionEnterprise: servedUnleashVersion,
    users: count('users'),
    serviceAccounts: count('service accounts'),
    apiTokens: Type.Object(
      { admin: count('for administrators'), client: count('for servers'), frontend: count('for browsers') },
      { description: 'API tokens' },
    ),
    activeUsers: Type.Object(
      { last7: count('in 7 days'), last30: count('in 30'), last60: count('in 60'), last90: count('in 90') },
      { description: 'users who used a key or a session' },
    ),
    featureToggles: count('active features'),
    archivedFeatureToggles: count('archived features'),
    projects: count('projects that are not archived'),
    contextFields: count('context fields'),
    roles: count('roles, predefined ones among them'),
    customRootRoles: count('root roles that were made here'),
    customRootRolesInUse: count('those of them that a user or a group has'),
    groups: count('groups'),
    environments: count('environments'),
    segments: count('segments'),
    strategies: count('types of strategies'),
    SAMLenabled: Type.Boolean({ description: 'always false' }),
    OIDCenabled: Type.Boolean({ description: 'whether users can sign in with OpenID Connect' }),
    clientApps: Type.Array(
      Type.Object({
        range: Type.String({ description: '`allTime`, `30d` or `7d`' }),
        count: count('applications that were seen'),
      }),
      { description: 'applications' },
    ),
    featureExports: count('exports in the event log'),
    featureImports: count('imports in the event log'),
    productionChanges: Type.Object(
      { last30: count('in 30 days'), last60: count('in 60'), last90: count('in 90') },
      { description: 'events of environments of the type production' },
    ),
  },
  { title: 'instanceAdminStatsSchema', description: 'The statistics of this installation.' },
);
export type InstanceStatistics = Static<typeof InstanceStatistics>;

export const TelemetrySettings = Type.Object(
  {
    versionInfoCollectionEnabled: Type.Boolean({ description: 'always false' }),
    featureInfoCollectionEnabled: Type.Boolean({ description: 'always false' }),
  },
  { title: 'telemetrySettingsSchema', description: 'The telemetry settings: Bunting reports nothing.' },
);

export const Maintenance = Type.Object(
  { enabled: Type.Boolean({ description: 'always false: Bunting has no maintenance mode' }) },
  { title: 'maintenanceSchema', description: 'Whether changes are refused for maintenance.' },
);

/** Counts the resources of the features service, including those of hidden projects. */
export const CountResources = defineOperation({
  subject: 'call.features.count-resources',
  summary: 'Count the resources of the features service',
  idempotent: true,
  reply: Type.Object({
    features: Type.Integer(),
    archivedFeatures: Type.Integer(),
    projects: Type.Integer(),
    contextFields: Type.Integer(),
    environments: Type.Integer(),
    segments: Type.Integer(),
    strategyTypes: Type.Integer(),
    applications: Type.Object({ allTime: Type.Integer(), last30: Type.Integer(), last7: Type.Integer() }),
    productionEnvironments: Type.Array(Type.String()),
  }),
});

export const GetInstanceStatisticsCsv = defineOperation({
  subject: 'call.gateway.get-instance-statistics-csv',
  operationId: 'getInstanceAdminStatsCsv',
  summary: 'Get the statistics of this installation as CSV',
  description: 'Returns the statistics as a line of names and a line of values; structured values are JSON.',
  tag: 'Instance Admin',
  http: { method: 'GET', url: '/api/admin/instance-admin/statistics/csv', contentType: 'text/csv' },
  permission: 'ADMIN',
  reply: Type.String({ description: 'the statistics as CSV' }),
});

export const GetInstanceStatistics = defineOperation({
  subject: 'call.gateway.get-instance-statistics',
  operationId: 'getInstanceAdminStats',
  summary: 'Get the statistics of this installation',
  description: 'Returns the numbers of users, features, projects and other resources, private projects included.',
  tag: 'Instance Admin',
  http: { method: 'GET', url: '/api/admin/instance-admin/statistics' },
  permission: 'ADMIN',
  reply: InstanceStatistics,
});

/** Returns whether writes are refused for maintenance. */
export const GetMaintenance = defineOperation({
  subject: 'call.gateway.get-maintenance',
  summary: 'Get the maintenance mode',
  description: 'Returns the maintenance mode, which is always off: Bunting has none.',
  tag: 'Maintenance',
  http: { method: 'GET', url: '/api/admin/maintenance' },
  permission: 'authenticated',
  reply: Maintenance,
});

export const GetResourceLimits = defineOperation({
  subject: 'call.features.get-resource-limits',
  summary: 'Get the limits of the features service',
  idempotent: true,
  reply: Type.Object({
    ...Type.Pick(ResourceLimits, [
      'segmentValues',
      'strategySegments',
      'featureEnvironmentStrategies',
      'constraintValues',
      'constraints',
      'environments',
      'projects',
      'segments',
      'featureFlags',
    ]).properties,
    allowsRegex: Type.Boolean({ description: 'whether constraints may use the operator `REGEX`' }),
  }),
});

export const GetTelemetrySettings = defineOperation({
  subject: 'call.gateway.get-telemetry-settings',
  summary: 'Get the telemetry settings',
  description: 'Returns the telemetry settings: Bunting reports nothing.',
  tag: 'Telemetry',
  http: { method: 'GET', url: '/api/admin/telemetry/settings' },
  permission: 'authenticated',
  reply: TelemetrySettings,
});

export const GetUiConfig = defineOperation({
  subject: 'call.gateway.get-ui-config',
  summary: 'Get the configuration of user interfaces',
  description:
    'Returns name, version, limits and settings of this installation, in the form that user interfaces of Unleash expect.',
  tag: 'Admin UI',
  http: { method: 'GET', url: '/api/admin/ui-config' },
  permission: 'authenticated',
  reply: UiConfig,
});

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
