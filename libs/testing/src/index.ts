export { freePort } from '@bunting/embedded-postgres';
export { openEventStream, type OpenEventStream, type ReceivedEvent } from './event-stream.ts';
export { eventually } from './eventually.ts';
export { type NatsOptions, startNats, type TestNats } from './nats.ts';
export { downloadedNatsServer, findNatsServer, howToInstallNatsServer } from './nats-program.ts';
export { type FreshDatabase, freshDatabase, type Preparation } from './postgres.ts';
export { startTestPostgres, testPostgresUrl, withClient } from './postgres-server.ts';
export { startBlackholeProxy, type BlackholeProxy } from './blackhole-proxy.ts';
export { streamMessages } from './stream.ts';
