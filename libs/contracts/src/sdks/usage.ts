import { type Static, type TSchema, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { Constant, Nullable, Timestamp } from '../schemas.ts';

const defineOperation = operationsOf('Client');

const appName = Type.String({ minLength: 1, maxLength: 255, description: 'the name of the application' });
const instanceId = Type.Optional(
  Type.String({ maxLength: 255, description: 'which instance of the application; default: `default`' }),
);
const environment = Type.Optional(
  Type.String({
    maxLength: 100,
    description:
      'the environment, unless the token is for one; without it, or with `default` where no environment is called that: the first enabled environment',
  }),
);
const sdkVersion = Type.Optional(Type.String({ maxLength: 255, description: 'the SDK and its version' }));
function text(description: string) {
  return Type.Optional(Nullable(Type.String({ maxLength: 255 }), { description }));
}
function timestamp(description: string) {
  return Type.Union(
    [Type.String({ format: 'date-time' }), Type.Number({ minimum: 0, maximum: 8_640_000_000_000_000 })],
    {
      description,
    },
  );
}
const count = Type.Integer({ minimum: 0, maximum: 9_007_199_254_740_991 });
function byName<T extends TSchema>(schema: T) {
  return Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: schema });
}

const platform = {
  platformName: text('the platform, such as node'),
  platformVersion: text('its version'),
  yggdrasilVersion: text('the version of the evaluation engine'),
  specVersion: text('the version of the client specification'),
};

export const RegisterApplicationBody = Type.Object(
  {
    appName,
    instanceId,
    environment,
    sdkVersion,
    strategies: Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: 1_000,
      description: 'the strategy types that it can evaluate',
    }),
    started: timestamp('when it started'),
    interval: Type.Number({ description: 'the interval between its reports, in seconds or milliseconds' }),
    ...platform,
  },
  { title: 'clientApplicationSchema', description: 'The registration of an application, sent when it starts.' },
);
export type RegisterApplicationBody = Static<typeof RegisterApplicationBody>;

const Evaluations = Type.Object({
  yes: Type.Optional(count),
  no: Type.Optional(count),
  variants: Type.Optional(byName(count)),
});

export const MetricsBody = Type.Object(
  {
    appName,
    instanceId,
    environment,
    sdkVersion,
    bucket: Type.Object({
      start: timestamp('from when it was counted'),
      stop: timestamp('until when it was counted'),
      toggles: byName(Evaluations),
    }),
    ...platform,
  },
  { title: 'clientMetricsSchema', description: 'The counts of evaluations of flags, by result.' },
);
export type MetricsBody = Static<typeof MetricsBody>;

/** The text that the frontend API responds with to a report; some proxies compare it. */
export const Accepted = Type.String({ description: '`OK`' });

/** A name in the report of a proxy: an impossible one is left out, so that it does not take the reports of other applications with it. */
function anyName(description: string) {
  return Type.String({ description });
}

/** Metrics and registrations of many applications, collected by a proxy. */
export const BulkMetricsBody = Type.Object(
  {
    applications: Type.Array(
      Type.Object({
        appName: anyName('the name of the application; without one of 1 to 255 characters it is left out'),
        instanceId,
        environment,
        sdkVersion,
        strategies: Type.Optional(Type.Array(Type.String({ maxLength: 255 }))),
        started: Type.Optional(timestamp('when it started')),
        interval: Type.Optional(Type.Number({ description: 'the interval between its reports' })),
      }),
      { maxItems: 10_000, description: 'the applications' },
    ),
    metrics: Type.Array(
      Type.Object({
        featureName: anyName('the feature'),
        environment: Type.String({ maxLength: 100, description: 'the environment' }),
        appName: anyName('the name of the application; without one of 1 to 255 characters the counts are left out'),
        timestamp: timestamp('the hour in which it was counted'),
        sdkVersion,
        yes: Type.Optional(count),
        no: Type.Optional(count),
        variants: Type.Optional(byName(count)),
      }),
      { maxItems: 100_000, description: 'the evaluations' },
    ),
    impactMetrics: Type.Optional(
      Type.Array(Type.Unknown(), { maxItems: 100_000, description: 'accepted from newer SDKs, and not stored' }),
    ),
    seenTokens: Type.Optional(
      Type.Array(Type.String({ maxLength: 512 }), {
        maxItems: 10_000,
        description: 'accepted from newer proxies, and not stored',
      }),
    ),
  },
  { title: 'bulkMetricsSchema', description: 'Metrics and registrations of many applications.' },
);
export type BulkMetricsBody = Static<typeof BulkMetricsBody>;

const EnvironmentUsage = Type.Object({
  environment: Type.String({ description: 'the environment' }),
  timestamp: Timestamp('the start of the hour'),
  yes: Type.Integer({ description: 'evaluations to true' }),
  no: Type.Integer({ description: 'evaluations to false' }),
});

export const FeatureUsage = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    maturity: Type.String({ description: '`stable`' }),
    featureName: Type.String({ description: 'the feature' }),
    lastHourUsage: Type.Array(EnvironmentUsage, { description: 'the evaluations of the last hour, by environment' }),
    seenApplications: Type.Array(Type.String(), { description: 'the applications that made them' }),
  },
  { title: 'featureUsageSchema', description: 'The usage of a feature in the last hour.' },
);
export type FeatureUsage = Static<typeof FeatureUsage>;

export const HoursBackQuery = Type.Object({
  hoursBack: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'the number of hours to look back; default: 24. Counts are kept for 48 hours',
    }),
  ),
});

export const RawFeatureMetrics = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    maturity: Type.String({ description: '`stable`' }),
    featureName: Type.String({ description: 'the feature' }),
    data: Type.Array(
      Type.Object({
        featureName: Type.String(),
        appName: Type.String(),
        environment: Type.String(),
        timestamp: Timestamp('the start of the hour'),
        yes: Type.Integer(),
        no: Type.Integer(),
        variants: Type.Optional(byName(Type.Integer())),
      }),
      { description: 'the evaluations by hour, environment and application' },
    ),
  },
  { title: 'featureMetricsSchema', description: 'The metrics of a feature by hour.' },
);

export const GetFeatureUsage = defineOperation({
  subject: 'call.features.get-feature-usage',
  operationId: 'getFeatureUsageSummary',
  summary: 'Get the usage of a feature',
  description: 'Returns the evaluations of the last hour by environment, and the applications that made them.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/client-metrics/features/:featureName' },
  permission: 'authenticated',
  reply: FeatureUsage,
});

export const GetRawFeatureMetrics = defineOperation({
  subject: 'call.features.get-raw-feature-metrics',
  summary: 'Get the metrics of a feature by hour',
  description: 'Returns the evaluations by hour, environment and application, at most the newest 50,000 counts.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/client-metrics/features/:featureName/raw' },
  permission: 'authenticated',
  query: HoursBackQuery,
  reply: RawFeatureMetrics,
  errors: ['ValidationError', 'NotFoundError'],
});

/** Emits `application-created` the first time. */
export const RegisterApplication = defineOperation({
  subject: 'call.features.register-application',
  operationId: 'registerClientApplication',
  summary: 'Register an application',
  description: 'Registers an application that evaluates flags. Environment and projects are those of the token.',
  http: { method: 'POST', url: '/api/client/register', status: 202 },
  permission: 'CLIENT',
  body: RegisterApplicationBody,
});

/** Emits `application-created` the first time. */
export const RegisterFrontendApplication = defineOperation({
  subject: 'call.features.register-frontend-application',
  operationId: 'registerFrontendClient',
  summary: 'Register a browser or app',
  description: 'Registers a browser or app that evaluates flags. Environment and projects are those of the token.',
  tag: 'Frontend API',
  http: { method: 'POST', url: '/api/frontend/client/register', contentType: 'text/plain' },
  permission: 'FRONTEND',
  body: RegisterApplicationBody,
  reply: Accepted,
});

export const ReportFrontendMetrics = defineOperation({
  subject: 'call.features.report-frontend-metrics',
  operationId: 'registerFrontendMetrics',
  summary: 'Report metrics of a browser or app',
  description: 'Adds counts of evaluations of flags. They are stored before the response.',
  tag: 'Frontend API',
  http: {
    method: 'POST',
    url: '/api/frontend/client/metrics',
    contentType: 'text/plain',
    headers: { sdk: 'Unleash-SDK' },
    dropsUnusableNames: true,
  },
  permission: 'FRONTEND',
  query: Type.Object({
    sdk: Type.Optional(
      Type.String({ maxLength: 255, description: 'the SDK and its version, for a body without `sdkVersion`' }),
    ),
  }),
  body: MetricsBody,
  reply: Accepted,
});

export const ReportMetrics = defineOperation({
  subject: 'call.features.report-metrics',
  operationId: 'registerClientMetrics',
  summary: 'Report metrics',
  description: 'Adds counts of evaluations of flags. They are stored before the response.',
  http: { method: 'POST', url: '/api/client/metrics', status: 202, largeBody: true, dropsUnusableNames: true },
  permission: 'CLIENT',
  body: MetricsBody,
});

export const ReportProxiedMetrics = defineOperation({
  subject: 'call.features.report-proxied-metrics',
  operationId: 'clientBulkMetrics',
  summary: 'Report metrics of many applications',
  description: 'Adds the metrics that a proxy between applications and this server has collected.',
  http: { method: 'POST', url: '/api/client/metrics/bulk', status: 202, largeBody: true, dropsUnusableNames: true },
  permission: 'CLIENT',
  body: BulkMetricsBody,
});
