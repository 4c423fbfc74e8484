import type { Bus, Endpoint } from '@bunting/bus';
import type { Producer } from '@bunting/contracts';
import type { Database, Tx } from '@bunting/database';
import { confirmations, readOutboxEndpoint } from './feed.ts';
import { type Outbox, recordingWork } from './outbox.ts';
import { type Relay, startRelay } from './relay.ts';

export interface ProducerOptions {
  readonly producer: Producer;
  readonly database: Database;
  readonly bus: Bus;
  readonly intervalMs: number;
  readonly retentionHours: number;
  readonly warn: (message: string) => void;
}

/** All that a service needs to tell facts: the unit of work that records them, who answers for them, and who sends them out. */
export interface Telling {
  readonly work: <T>(traceparent: string | null, job: (tx: Tx, outbox: Outbox) => Promise<T>) => Promise<T>;
  readonly endpoint: Endpoint;
  readonly relay: Relay;
}

export const startTelling = (options: ProducerOptions): Telling => {
  const confirmed = confirmations();
  const relay = startRelay({ ...options, confirmed });
  return {
    work: recordingWork(options.database, () => relay.wake()),
    endpoint: readOutboxEndpoint(options.producer, options.database, confirmed),
    relay,
  };
};
