export { buntingVersion, configSchemaOf, HostConfig, monitoringPortKey, natsAccess } from './host-settings.ts';
export { databaseSettings, outboxSettings } from './shared-settings.ts';
export { ConfigError, type ConfigSchema, keysOf, readConfig } from './read-config.ts';
export { host, type RunningHost, type HostOptions } from './host.ts';
export { type Log, logFailure, type Logger, openLog } from './log.ts';
export { backoffMs, type Loop, startLoop } from './loop.ts';
export { logUnhandledRejections, run, startError, stopOnSignal } from './run.ts';
export {
  type AnyService,
  drainTimeoutMs,
  defineService,
  type Readiness,
  type RunningService,
  type Service,
  type ServiceContext,
} from './service.ts';
