export {
  buntingVersion,
  configSchemaOf,
  databaseSettings,
  HostConfig,
  monitoringPortKey,
  natsAccess,
  outboxSettings,
  smtpSettings,
} from './host-settings.ts';
export { failureLog } from './failure-log.ts';
export { host, type HostOptions, type RunningHost } from './host.ts';
export { type Log, logFailure, type Logger, openLog } from './log.ts';
export { backoffMs, logAfterRestartMs, type Loop, startLoop } from './loop.ts';
export { ConfigError, type ConfigSchema, keysOf, readConfig } from './read-config.ts';
export { logUnhandledRejections, run, startError, stopOnSignal } from './run.ts';
export {
  type AnyService,
  defineService,
  drainTimeoutMs,
  type Readiness,
  type RunningService,
  type Service,
  type ServiceContext,
} from './service.ts';
