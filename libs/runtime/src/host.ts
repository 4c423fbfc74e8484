import { compatibilityCheckOfReadiness, openBus, serve } from '@bunting/bus';
import { consumersOf, type ServiceName } from '@bunting/contracts';
import { startTracing, type Tracing } from '@bunting/tracing';
import { Registry } from 'prom-client';
import {
  callerKeys,
  maxConcurrentCallsKey,
  maxHeavyCalls,
  monitoringPortKey,
  natsAccess,
  readProcessSettings,
} from './host-settings.ts';
import { type Logger, openLog } from './log.ts';
import { collectRunningLoops, type RunningLoop } from './loop.ts';
import { logAndMeasureCalls, processMetrics } from './metrics.ts';
import { type MonitoringServer, startMonitoringServer } from './monitoring-server.ts';
import type { ConfigSchema, ProcessEnvironment } from './read-config.ts';
import type { AnyService, ProcessName, RunningService, ServiceContext } from './service.ts';
import { type tracingOptions, tracingSettings } from './tracing-settings.ts';

/** A component that a service registered with `onStop`. */
interface Component {
  readonly name: string;
  readonly stop: () => Promise<void>;
  readonly limitMs: number;
}

const defaultStopLimitMs = 10_000;

/** Stops one component. One that fails or exceeds its limit is logged; the others are stopped all the same. */
async function stopComponent({ name, stop, limitMs }: Component, log: Logger): Promise<void> {
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
}

/** The variables of OpenTelemetry that are set and have no effect. */
function ignoredVariables(environment: ProcessEnvironment): string[] {
  return Object.entries(environment).flatMap(([key, value]) =>
    key.startsWith('OTEL_') && (value ?? '') !== '' && !Object.hasOwn(tracingSettings, key.replace(/_FILE$/, ''))
      ? [key]
      : [],
  );
}

/** Starts the export of spans if there are options, and warns of variables of OpenTelemetry that have no effect. */
async function traceProcess(
  options: ReturnType<typeof tracingOptions>,
  environment: ProcessEnvironment,
  log: Logger,
): Promise<Tracing | undefined> {
  // Without `OTEL_EXPORTER_OTLP_ENDPOINT` nothing is traced. Then only the variable of another endpoint is a mistake: it was set to trace.
  const ignored = ignoredVariables(environment).filter((key) => options !== undefined || key.endsWith('_ENDPOINT'));
  if (ignored.length > 0)
    log.warn(
      `Tracing: ${ignored.join(', ')} is set and has no effect. docs/settings.md lists the variables that are read.`,
    );
  if (options === undefined) return undefined;
  return startTracing({ ...options, warn: (message) => log.warn(message) });
}

export interface HostOptions {
  readonly environment?: ProcessEnvironment;
  readonly log?: Logger;
}

/**
 * Applies the missing migrations of the services' databases, without starting the services.
 * @throws ConfigError with all faults of all settings, or the error of a database that cannot be migrated
 */
export async function migrateDatabases(
  services: readonly AnyService<ProcessName>[],
  environment: ProcessEnvironment = process.env,
): Promise<void> {
  const { configs } = readProcessSettings(services, environment);
  for (const [index, { migrate }] of services.entries()) await migrate?.(configs[index] as never);
}

/** The limit for the last export of spans when the process stops. Spans that the collector has not taken by then are lost. */
const spanExportStopLimitMs = 3_000;

/**
 * Runs services in this process until stopped: reads their settings, opens the bus, starts them in order and stops them in reverse.
 * @throws ConfigError with all faults of all settings, or the error of a service that did not start. Everything that had started is
 * stopped first, including the components of the failed service.
 */
export async function host(services: readonly AnyService<ProcessName>[], options: HostOptions = {}) {
  const environment = options.environment ?? process.env;
  const { name, hostConfig, configs, tracing: configuredTracing } = readProcessSettings(services, environment);
  const log = options.log ?? openLog(hostConfig.LOG_LEVEL);
  const sharedMetrics = processMetrics(hostConfig.BUS_URL !== undefined);
  const bus = await openBus(hostConfig.BUS_URL, {
    name,
    access: natsAccess(hostConfig),
    callerKeys: callerKeys(hostConfig),
    onConnection: sharedMetrics.onConnection,
    warn: (message) => log.warn(message),
  });

  const producers = services
    .map((service) => service.name)
    .filter((service): service is ServiceName => service !== 'edge' && service in consumersOf);
  await bus.prepareServer(producers).catch(async (error: unknown) => {
    await bus.close();
    throw error;
  });
  const tracing = await traceProcess(configuredTracing, environment, log).catch(async (error: unknown) => {
    await bus.close();
    throw error;
  });

  const runningServices = new Map<string, RunningService>();
  const startedServices: { readonly log: Logger; readonly components: Component[] }[] = [];
  const monitoringServers = new Map<string, MonitoringServer>();
  const draining = new AbortController();
  let stopping: Promise<void> | undefined;

  const stopAll = async () => {
    draining.abort();
    if (hostConfig.DRAIN_DELAY_MS > 0 && runningServices.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, hostConfig.DRAIN_DELAY_MS));
    }
    for (const service of startedServices.reverse()) {
      for (const component of service.components.reverse()) await stopComponent(component, service.log);
    }
    await stopComponent({ name: 'bus', stop: () => bus.close(), limitMs: defaultStopLimitMs }, log);
    if (tracing !== undefined)
      await stopComponent({ name: 'export of spans', stop: tracing.stop, limitMs: spanExportStopLimitMs }, log);
    await Promise.all([...monitoringServers.values()].map((server) => server.close()));
  };
  const runningLoops = new Set<RunningLoop>();
  const requireNoRunningLoops = () => {
    const names = [...runningLoops].map(({ name }) => name);
    if (names.length > 0)
      throw new Error(`These loops still run after the stop: ${names.join(', ')}. Stop them with onStop.`);
  };
  const stop = () => (stopping ??= stopAll());

  try {
    for (const [index, service] of services.entries()) {
      const config = configs[index] ?? {};
      const serviceLog = log.child({ service: service.name });
      const metrics = new Registry();
      metrics.setDefaultLabels({ service: service.name });
      if (index === 0) sharedMetrics.register(metrics, tracing?.counts);
      const observe = logAndMeasureCalls(serviceLog, metrics);
      const maxConcurrent = config[maxConcurrentCallsKey(service.name)] as number;
      const port = config[monitoringPortKey(service.name)] as number;
      // An edge calls no service.
      const requireCompatible =
        service.name === 'edge' ? async () => undefined : compatibilityCheckOfReadiness(bus, service.name);
      if (port > 0) {
        const ready = () => {
          const runningService = stopping === undefined ? runningServices.get(service.name) : undefined;
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
      startedServices.push({ log: serviceLog, components });
      const context: ServiceContext<ConfigSchema> = {
        config,
        bus,
        log: serviceLog,
        metrics,
        monitoringPort: port,
        serve: (endpoints, callBus = bus) =>
          serve(callBus, endpoints, {
            observe,
            checkReplies: hostConfig.CHECK_REPLIES,
            maxConcurrent,
            maxConcurrentHeavy: maxHeavyCalls(service.name, config),
          }),
        onStop: (componentName, stopFunction, limitMs = defaultStopLimitMs) =>
          void components.push({ name: componentName, stop: stopFunction, limitMs }),
        requireCompatible,
        draining: draining.signal,
        drainDelayMs: hostConfig.DRAIN_DELAY_MS,
      };
      const start = () => service.start(context as never);
      const runningService = await (hostConfig.CHECK_REPLIES ? collectRunningLoops(runningLoops, start) : start());
      runningServices.set(service.name, runningService);
      serviceLog.info({ address: runningService.address }, 'The service is ready.');
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const monitoringPorts = new Map([...monitoringServers].map(([serviceName, server]) => [serviceName, server.port]));
  return {
    services: runningServices as ReadonlyMap<string, RunningService>,
    bus,
    log,
    /** the ports of /health and /metrics, by service */
    monitoringPorts,
    /** @throws Error with `CHECK_REPLIES`, when a loop that a service started still runs */
    stop: () => stop().then(requireNoRunningLoops),
  };
}
export type RunningHost = Awaited<ReturnType<typeof host>>;
