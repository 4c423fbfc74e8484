import type { Bus, Endpoint } from '@bunting/bus';
import type { Producer } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import { confirmations, readOutboxEndpoint } from './feed.ts';
import { recordingWork } from './outbox.ts';
import { type Relay, startRelay } from './relay.ts';
import { type InSteps, type Work, workingOnce } from './work.ts';

export interface ProducerOptions {
  readonly producer: Producer;
  readonly database: Database;
  readonly bus: Bus;
  readonly intervalMs: number;
  readonly retentionHours: number;
  /** how long the answers of writes with an `Idempotency-Key` are kept at least; left out where there are none */
  readonly answersKeptHours?: number;
  readonly warn: (message: string) => void;
}

/** All that a service needs to tell facts: the unit of work that records them, who answers for them, and who sends them out. */
export interface Telling extends InSteps {
  readonly work: Work;
  readonly endpoint: Endpoint;
  readonly relay: Relay;
}

export const startTelling = (options: ProducerOptions): Telling => {
  const confirmed = confirmations();
  const relay = startRelay({ ...options, confirmed });
  return {
    ...workingOnce(
      options.database,
      recordingWork(options.database, () => relay.wake()),
    ),
    endpoint: readOutboxEndpoint(options.producer, options.database, confirmed),
    relay,
  };
};
