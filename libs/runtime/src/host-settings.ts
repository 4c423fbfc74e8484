import { readFileSync } from 'node:fs';
import { type CallerKeys, callerSignatures, type NatsAccess } from '@bunting/bus';
import { type Static, type TInteger, type TString, Type } from 'typebox';
import { ConfigError, type ConfigSchema, type ProcessEnvironment, readConfig, unknownSettings } from './read-config.ts';
import type { AnyService, ProcessName } from './service.ts';
import { tracingOptions, tracingSettings } from './tracing-settings.ts';
import { unsafeSettings } from './unsafe-settings.ts';

/** Returns the version of Bunting, which is that of each of its packages. */
export function buntingVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** The settings of every process, whichever services it hosts. */
export const HostConfig = Type.Object({
  BUS_URL: Type.Optional(
    Type.String({
      pattern: '^(nats|tls)://',
      description:
        'NATS servers, comma-separated, `nats://` or `tls://`, with `user:password@` or `token@` before the host where wanted; without it services talk within the process',
    }),
  ),
  BUS_USER: Type.Optional(Type.String({ description: 'user that the process connects to NATS as' })),
  BUS_PASSWORD: Type.Optional(Type.String({ secret: true, description: 'password of that user' })),
  BUS_TOKEN: Type.Optional(Type.String({ secret: true, description: 'token that NATS asks for instead of a user' })),
  BUS_CREDENTIALS_FILE: Type.Optional(
    Type.String({
      secretFile: true,
      description: 'file with the JWT and the nkey seed of a NATS user, as `nsc` writes it',
    }),
  ),
  BUS_NKEY_FILE: Type.Optional(
    Type.String({ secretFile: true, description: 'file with the nkey seed of a NATS user' }),
  ),
  BUS_TLS_CA_FILE: Type.Optional(
    Type.String({ description: 'PEM file with the certificates that NATS servers are verified with; requires TLS' }),
  ),
  BUS_TLS_CERTIFICATE_FILE: Type.Optional(
    Type.String({ description: 'PEM file with the certificate that the process shows to NATS; requires TLS' }),
  ),
  BUS_TLS_KEY_FILE: Type.Optional(
    Type.String({ secretFile: true, description: 'PEM file with the key of that certificate' }),
  ),
  BUS_CALLER_KEY: Type.Optional(
    Type.String({
      secret: true,
      description:
        'Ed25519 private key as PEM text, with which gateways sign the callers of calls over NATS; required there, and given to no other service',
    }),
  ),
  BUS_CALLER_PUBLIC_KEYS: Type.Optional(
    Type.String({
      mayHoldSecret: true,
      description:
        'Ed25519 public keys as PEM text, one after the other, with which the callers of calls over NATS are verified; required in services without BUS_CALLER_KEY',
    }),
  ),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
    description: 'minimum level of log lines',
  }),
  DRAIN_DELAY_MS: Type.Integer({
    minimum: 0,
    default: 0,
    description:
      'milliseconds that a stopping process keeps accepting work while /health/ready returns 503, so that load balancers take it out of rotation',
  }),
  CHECK_REPLIES: Type.Boolean({
    default: false,
    description:
      'validate every reply against its schema, that errors are declared, that writes check permissions, and that a stop ends every loop; for tests',
  }),
  ...tracingSettings,
});
export type HostConfig = Static<typeof HostConfig>;

/** The credentials of the process for NATS, from its settings. */
export function natsAccess(config: HostConfig): NatsAccess {
  return {
    user: config.BUS_USER,
    password: config.BUS_PASSWORD,
    token: config.BUS_TOKEN,
    credentialsFile: config.BUS_CREDENTIALS_FILE,
    nkeyFile: config.BUS_NKEY_FILE,
    tlsCaFile: config.BUS_TLS_CA_FILE,
    tlsCertificateFile: config.BUS_TLS_CERTIFICATE_FILE,
    tlsKeyFile: config.BUS_TLS_KEY_FILE,
  };
}

/** The keys with which the process signs and verifies callers, from its settings. */
export function callerKeys(config: HostConfig): CallerKeys {
  return {
    privateKey: config.BUS_CALLER_KEY,
    publicKeys: config.BUS_CALLER_PUBLIC_KEYS,
  };
}

/** What keeps a process on NATS from knowing on whose behalf it is called, or a gateway from signing that. */
function callerKeyFaults(
  config: HostConfig,
  services: readonly Pick<AnyService<ProcessName>, 'name'>[],
): readonly string[] {
  const { BUS_URL: url, BUS_CALLER_KEY: privateKey, BUS_CALLER_PUBLIC_KEYS: publicKeys } = config;
  if (url === undefined) return [];
  if (privateKey === undefined && services.some(({ name }) => name === 'gateway'))
    return ['BUS_CALLER_KEY is required in a gateway with BUS_URL: it signs the callers of its calls.'];
  if (privateKey === undefined && publicKeys === undefined)
    return ['BUS_CALLER_PUBLIC_KEYS is required with BUS_URL: the public half of BUS_CALLER_KEY of the gateways.'];
  try {
    callerSignatures(callerKeys(config));
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** The prefix of a service's settings: `CHANGE_REQUESTS_` for change-requests. */
function prefixOf(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}_`;
}

/** The setting with the port of a service's health and metrics. */
export function monitoringPortKey(service: string): string {
  return `${prefixOf(service)}OPS_PORT`;
}
const monitoringPort = Type.Integer({
  minimum: 0,
  maximum: 65535,
  default: 0,
  description: 'port of /health and /metrics; 0 for none',
});

/** The setting with the limit of calls that a service handles concurrently. */
export function maxConcurrentCallsKey(service: string): string {
  return `${prefixOf(service)}MAX_CONCURRENT_CALLS`;
}
const maxConcurrentCalls = Type.Integer({
  minimum: 1,
  default: 512,
  description: 'maximum calls handled concurrently; further calls are refused immediately with 503',
});

function databaseConnectionsKey(service: string): string {
  return `${prefixOf(service)}DATABASE_POOL_MAX`;
}

/** The maximum number of heavy calls that a service handles concurrently: each may hold a connection for seconds, and others need most of them. */
export function maxHeavyCalls(service: string, config: Readonly<Record<string, unknown>>): number {
  return Math.max(1, Math.floor(Number(config[databaseConnectionsKey(service)] ?? 0) / 3));
}

/** Everything that a service reads from its environment: its own settings and those that every service has. */
export function configSchemaOf(service: Pick<AnyService<ProcessName>, 'name' | 'config'>): ConfigSchema {
  return Type.Object({
    ...service.config.properties,
    [maxConcurrentCallsKey(service.name)]: maxConcurrentCalls,
    [monitoringPortKey(service.name)]: monitoringPort,
  });
}

/** Reads the settings of the process and of its services, and reports all their faults in one error. */
export function readProcessSettings(services: readonly AnyService<ProcessName>[], environment: ProcessEnvironment) {
  const faults: string[] = [];
  const isProduction = environment['NODE_ENV'] === 'production';
  const read = <S extends ConfigSchema>(schema: S, prefixes: readonly string[]): Static<S> => {
    for (const prefix of prefixes) faults.push(...unknownSettings(schema, prefix, environment));
    try {
      const config = readConfig(schema, environment);
      if (isProduction) faults.push(...unsafeSettings(schema, config as Record<string, unknown>));
      return config;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(error.message);
      return {} as Static<S>;
    }
  };
  const hostConfig = read(HostConfig, ['BUS_']);
  faults.push(...callerKeyFaults(hostConfig, services));
  const configs = services.map((service) => {
    const { name, settingPrefixes = [] } = service;
    return read(configSchemaOf(service), [prefixOf(name), ...settingPrefixes]) as Record<string, unknown>;
  });
  const name = services.length === 1 ? (services[0]?.name ?? 'bunting') : 'bunting';
  let tracing: ReturnType<typeof tracingOptions>;
  try {
    tracing = tracingOptions(hostConfig, name === 'bunting' ? name : `bunting-${name}`, buntingVersion());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(error.message);
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return { name, hostConfig, configs, tracing };
}

/** The settings of a service's own database, under the service's prefix. */
export function databaseSettings<P extends string>(
  prefix: P,
  { poolMax = 10, minPoolMax = 2, statementTimeoutMs = 10_000 } = {},
) {
  return {
    [`${prefix}_DATABASE_URL`]: Type.String({ format: 'uri', description: "the service's PostgreSQL database" }),
    [`${prefix}_DATABASE_POOL_MAX`]: Type.Integer({
      minimum: minPoolMax,
      maximum: 100,
      default: poolMax,
      description: 'maximum connections to the database',
    }),
    [`${prefix}_STATEMENT_TIMEOUT_MS`]: Type.Integer({
      minimum: 100,
      default: statementTimeoutMs,
      description:
        'milliseconds after which PostgreSQL cancels a statement; a connection that does not respond for three times as long is replaced',
    }),
  } as Record<`${P}_DATABASE_URL`, TString> & Record<`${P}_DATABASE_POOL_MAX` | `${P}_STATEMENT_TIMEOUT_MS`, TInteger>;
}

/** The settings of a service that writes: its outbox, and the replies that it stores for retries with an Idempotency-Key. */
export function outboxSettings<P extends string>(prefix: P) {
  return {
    [`${prefix}_RELAY_POLL_INTERVAL_MS`]: Type.Integer({
      minimum: 10,
      default: 5_000,
      description: 'milliseconds between polls for events to publish on NATS; each commit wakes the relay as well',
    }),
    [`${prefix}_OUTBOX_RETENTION_HOURS`]: Type.Integer({
      minimum: 0,
      default: 24,
      description: 'minimum hours that published events stay in the outbox, where consumers can fetch them again',
    }),
    [`${prefix}_IDEMPOTENCY_RETENTION_HOURS`]: Type.Integer({
      minimum: 1,
      default: 24,
      description: 'minimum hours that the reply to a write with an Idempotency-Key is stored for retries',
    }),
  } as Record<
    `${P}_RELAY_POLL_INTERVAL_MS` | `${P}_OUTBOX_RETENTION_HOURS` | `${P}_IDEMPOTENCY_RETENTION_HOURS`,
    TInteger
  >;
}

/** The settings of a service that sends mail. */
export function smtpSettings(purpose: string) {
  return {
    SMTP_URL: Type.Optional(
      Type.String({
        secret: true,
        pattern: '^smtps?://',
        description: `mail server, \`smtps://user:password@host:465\`, ${purpose}`,
      }),
    ),
    SMTP_FROM: Type.String({
      minLength: 3,
      default: 'Bunting <bunting@localhost>',
      description: 'sender of mails',
    }),
  };
}
