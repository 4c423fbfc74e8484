export { slackApi, slackWebhook, teamsConnector, teamsWorkflow } from './chat-providers.ts';
export {
  anyWebhook,
  type HttpDestination,
  type Provider,
  type ReceivedRequest,
  startHttpDestination,
} from './http-destination.ts';
export { type MailServer, startMailServer } from './mail-server.ts';
export { datadogEvents, newRelicEvents, otlpLogs } from './monitoring-providers.ts';
export { startStorage, type Storage, storageKey } from './storage.ts';
export { selfSignedCertificate, startSyslogServer, type SyslogServer } from './syslog-server.ts';
