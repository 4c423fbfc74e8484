export { buntingVersion } from './bunting-version.ts';
export { databaseSettings, outboxSettings } from './settings/shared-settings.ts';
export { ConfigError, type ConfigSchema, keysOf, readConfig } from './settings/read-config.ts';
export { configSchemaOf, HostConfig, monitoringPortKey, natsAccess } from './settings/host-settings.ts';
export { host, type RunningHost, type HostOptions } from './host/host.ts';
export { type Log, logFailure, type Logger, openLog } from './monitoring/log.ts';
export { backoffMs } from './loops/backoff.ts';
export { type Loop, startLoop } from './loops/loop.ts';
export { logUnhandledRejections, run, startError, stopOnSignal } from './host/run.ts';
export {
  type AnyService,
  drainTimeoutMs,
  defineService,
  type Readiness,
  type RunningService,
  type Service,
  type ServiceContext,
} from './host/service.ts';
