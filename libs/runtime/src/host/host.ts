import { compatibilityCheck, type NatsAccess, openBus, serve, type ServedCall } from '@bunting/bus';
import { consumersOf, systemCaller } from '@bunting/contracts';
import { Counter, Histogram, Registry } from 'prom-client';
import { type Static, Type } from 'typebox';
import {
  ConfigError,
  type ConfigSchema,
  type ProcessEnvironment,
  readConfig,
  unknownSettings,
} from '../settings/config.ts';
import { type Logger, openLog } from '../monitoring/log.ts';
import { type MonitoringServer, startMonitoringServer } from '../monitoring/monitoring-server.ts';
import { processMetrics, version } from '../monitoring/process-metrics.ts';
import { unsafeSettings } from '../settings/unsafe-settings.ts';
import { traceProcess, tracingOptions, tracingSettings } from '../settings/tracing-settings.ts';
import type { AnyService, RunningService, ServiceContext } from './service.ts';

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
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
    description: 'minimum level of log lines',
  }),
  DRAIN_DELAY_MS: Type.Integer({
    minimum: 0,
    default: 0,
    description:
      'milliseconds that a stopping process keeps accepting work while /health/ready answers 503, so that load balancers take it out of rotation',
  }),
  CHECK_REPLIES: Type.Boolean({ default: false, description: 'validate every reply against its schema; for tests' }),
  ...tracingSettings,
});
export type HostConfig = Static<typeof HostConfig>;

/** The credentials of the process for NATS, from its settings. */
export const natsAccess = (config: HostConfig): NatsAccess => ({
  user: config.BUS_USER,
  password: config.BUS_PASSWORD,
  token: config.BUS_TOKEN,
  credentialsFile: config.BUS_CREDENTIALS_FILE,
  nkeyFile: config.BUS_NKEY_FILE,
  tlsCaFile: config.BUS_TLS_CA_FILE,
  tlsCertificateFile: config.BUS_TLS_CERTIFICATE_FILE,
  tlsKeyFile: config.BUS_TLS_KEY_FILE,
});

/** The prefix of a service's settings: `CHANGE_REQUESTS_` for change-requests. */
const prefixOf = (service: string): string => `${service.toUpperCase().replaceAll('-', '_')}_`;

/** The setting with the port of a service's health and metrics. */
export const monitoringPortKey = (service: string): string => `${prefixOf(service)}OPS_PORT`;
const monitoringPort = Type.Integer({
  minimum: 0,
  maximum: 65535,
  default: 0,
  description: 'port of /health and /metrics; 0 for none',
});

const maxConcurrentCallsKey = (service: string): string => `${prefixOf(service)}MAX_CONCURRENT_CALLS`;
const maxConcurrentCalls = Type.Integer({
  minimum: 1,
  default: 512,
  description: 'maximum calls handled concurrently; further calls are refused immediately with 503',
});

/** Everything that a service reads from its environment: its own settings and those that every service has. */
export const configOf = (service: Pick<AnyService, 'name' | 'config'>): ConfigSchema =>
  Type.Object({
    ...service.config.properties,
    [maxConcurrentCallsKey(service.name)]: maxConcurrentCalls,
    [monitoringPortKey(service.name)]: monitoringPort,
  });

export interface HostOptions {
  readonly environment?: ProcessEnvironment;
  readonly log?: Logger;
}

/** Reads the settings of the process and of its services, and reports all their faults in one error. */
const readSettings = (services: readonly AnyService[], environment: ProcessEnvironment) => {
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
  const common = read(HostConfig, ['BUS_']);
  const configs = services.map((service) => {
    const { name, settingPrefixes = [] } = service;
    return read(configOf(service), [prefixOf(name), ...settingPrefixes]) as Record<string, unknown>;
  });
  const name = services.length === 1 ? (services[0]?.name ?? 'bunting') : 'bunting';
  let tracing: ReturnType<typeof tracingOptions>;
  try {
    tracing = tracingOptions(common, name === 'bunting' ? name : `bunting-${name}`, version);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(error.message);
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return { name, common, configs, tracing };
};

/**
 * Applies the missing migrations of the services' databases, without starting the services.
 * @throws ConfigError with all faults of all settings, or the error of a database that cannot be migrated
 */
export const migrateDatabases = async (
  services: readonly AnyService[],
  environment: ProcessEnvironment = process.env,
): Promise<void> => {
  const { configs } = readSettings(services, environment);
  for (const [index, { migrate }] of services.entries()) await migrate?.(configs[index] as never);
};

const observer = (log: Logger, metrics: Registry): ((served: ServedCall) => void) => {
  const duration = new Histogram({
    name: 'bunting_call_duration_seconds',
    help: 'duration of calls, by operation and outcome',
    labelNames: ['operation', 'outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [metrics],
  });
  const replays = new Counter({
    name: 'bunting_idempotent_replays_total',
    help: 'writes whose stored reply was returned because their Idempotency-Key had been used before',
    labelNames: ['operation'],
    registers: [metrics],
  });
  return ({
    operation,
    outcome,
    repeatable,
    isReplay,
    durationMs,
    caller,
    requestId,
    traceparent,
    errorId,
    defect,
  }) => {
    duration.observe({ operation, outcome }, durationMs / 1000);
    if (isReplay) replays.inc({ operation });
    const isRoutineSystemCall = outcome === 'ok' && repeatable && caller.id === systemCaller.id;
    const level = defect !== undefined ? 'error' : isRoutineSystemCall ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    log[level]({
      operation,
      outcome,
      durationMs: Math.round(durationMs * 100) / 100,
      caller: caller.id,
      requestId,
      trace_id: traceparent.slice(3, 35),
      ...(errorId === undefined ? {} : { errorId }),
      ...(defect === undefined ? {} : { err: defect }),
    });
  };
};

/** A component that a service registered with `onStop`. */
interface Component {
  readonly name: string;
  readonly stop: () => Promise<void>;
  readonly limitMs: number;
}

const defaultStopLimitMs = 10_000;
/** Spans that a collector does not take by then are lost. */
const spanExportStopLimitMs = 3_000;

/** Stops one component. One that fails or exceeds its limit is logged; the others are stopped all the same. */
const stopComponent = async ({ name, stop, limitMs }: Component, log: Logger): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<'timeout'>((resolve) => (timer = setTimeout(resolve, limitMs, 'timeout')));
  try {
    if ((await Promise.race([stop(), limit])) === 'timeout') {
      log.warn(
        { component: name },
        `The component "${name}" did not stop within ${limitMs} ms. The shutdown goes on without it.`,
      );
    }
  } catch (error) {
    log.error({ component: name, err: error }, `The component "${name}" did not stop cleanly.`);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Runs services in this process until stopped: reads their settings, opens the bus, starts them in order and stops them in reverse.
 * @throws ConfigError with all faults of all settings, or the error of a service that did not start. Everything that had started is
 * stopped first, including the components of the failed service.
 */
export const host = async (services: readonly AnyService[], options: HostOptions = {}) => {
  const environment = options.environment ?? process.env;
  const { name, common, configs, tracing: tracingOf } = readSettings(services, environment);
  const log = options.log ?? openLog(common.LOG_LEVEL);
  const metricsOfProcess = processMetrics(common.BUS_URL !== undefined);
  const bus = await openBus(common.BUS_URL, {
    name,
    access: natsAccess(common),
    onConnection: metricsOfProcess.onConnection,
    warn: (message) => log.warn(message),
  });

  const producers = services.map((service) => service.name).filter((service) => service in consumersOf);
  await bus.checkServer(producers).catch(async (error: unknown) => {
    await bus.close();
    throw error;
  });
  const tracing = await traceProcess(tracingOf, environment, log);

  const running = new Map<string, RunningService>();
  const started: { readonly log: Logger; readonly components: Component[] }[] = [];
  const monitoringServers = new Map<string, MonitoringServer>();
  const draining = new AbortController();
  let stopping: Promise<void> | undefined;

  const stopAll = async () => {
    draining.abort();
    if (common.DRAIN_DELAY_MS > 0 && running.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, common.DRAIN_DELAY_MS));
    }
    for (const service of started.reverse()) {
      for (const component of service.components.reverse()) await stopComponent(component, service.log);
    }
    await stopComponent({ name: 'bus', stop: () => bus.close(), limitMs: defaultStopLimitMs }, log);
    if (tracing !== undefined)
      await stopComponent({ name: 'export of spans', stop: tracing.stop, limitMs: spanExportStopLimitMs }, log);
    await Promise.all([...monitoringServers.values()].map((server) => server.close()));
  };
  const stop = () => (stopping ??= stopAll());

  try {
    for (const [index, service] of services.entries()) {
      const config = configs[index] ?? {};
      const serviceLog = log.child({ service: service.name });
      const metrics = new Registry();
      metrics.setDefaultLabels({ service: service.name });
      if (index === 0) metricsOfProcess.register(metrics, tracing?.counts);
      const observe = observer(serviceLog, metrics);
      const maxConcurrent = config[maxConcurrentCallsKey(service.name)] as number;
      const port = config[monitoringPortKey(service.name)] as number;
      const requireCompatible = compatibilityCheck(bus, service.name);
      if (port > 0) {
        const ready = () => {
          const runningService = stopping === undefined ? running.get(service.name) : undefined;
          if (runningService === undefined) return undefined;
          return async () => {
            if (runningService.checksBus !== true) bus.ready();
            await requireCompatible();
            return runningService.ready();
          };
        };
        monitoringServers.set(service.name, await startMonitoringServer(port, metrics, ready));
      }
      const components: Component[] = [];
      started.push({ log: serviceLog, components });
      const context: ServiceContext<ConfigSchema> = {
        config,
        bus,
        log: serviceLog,
        metrics,
        monitoringPort: port,
        serve: (endpoints, on = bus) =>
          serve(on, endpoints, { observe, checkReplies: common.CHECK_REPLIES, maxConcurrent }),
        onStop: (component, stopIt, limitMs = defaultStopLimitMs) =>
          void components.push({ name: component, stop: stopIt, limitMs }),
        requireCompatible,
        draining: draining.signal,
        drainDelayMs: common.DRAIN_DELAY_MS,
      };
      const runningService = await service.start(context as never);
      running.set(service.name, runningService);
      serviceLog.info({ address: runningService.address }, 'The service is ready.');
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const monitoringPorts = new Map([...monitoringServers].map(([serviceName, server]) => [serviceName, server.port]));
  return {
    services: running as ReadonlyMap<string, RunningService>,
    bus,
    log,
    /** the ports of /health and /metrics, by service */
    monitoringPorts,
    stop,
  };
};
export type RunningHost = Awaited<ReturnType<typeof host>>;
