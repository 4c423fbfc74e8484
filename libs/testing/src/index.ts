export { eventually, leastOf, longFreshnessTimeouts, recordingLog } from './assertions.ts';
export { type OpenEventStream, openEventStream, type ReceivedEvent } from './event-stream.ts';
export {
  downloadedNatsServer,
  findNatsServer,
  howToInstallNatsServer,
  type NatsServerOptions,
  readNatsStreamMessages,
  startNats,
  type TestNats,
} from './nats.ts';
export { reservePort, temporaryFolder } from './process-resources.ts';
export {
  type Balancer,
  type Endpoints,
  type Interceptor,
  startBalancer,
  startTcpProxy,
  type TcpProxy,
} from './proxies.ts';
export { type InteractionFaults, type SlackDouble, type SlackMessage, type SlackPerson, startSlack } from './slack.ts';
export {
  type DatabaseTemplate,
  type FreshDatabase,
  freshDatabase,
  overTcp,
  rowsReadBy,
  type ReplicatedPostgres,
  startReplicatedPostgres,
  startTestPostgres,
  testPostgresUrl,
  withClient,
} from './test-postgres.ts';
