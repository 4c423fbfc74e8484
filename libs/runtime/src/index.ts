export { databaseSettings, outboxSettings } from './shared-settings.ts';
export { ConfigError, type ConfigSchema, keysOf, readConfig } from './config.ts';
export {
  configOf,
  host,
  HostConfig,
  natsAccess,
  type RunningHost,
  type HostOptions,
  monitoringPortKey,
} from './host.ts';
export { type Logger, openLog } from './log.ts';
export { type Loop, type LoopOptions, startLoop } from './loop.ts';
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
