import type { Bus, Endpoint } from '@bunting/bus';
import type { Producer } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import type { Log } from '@bunting/runtime';
import type { Registry } from 'prom-client';
import { unstoredAcknowledgements } from './unstored-acknowledgements.ts';
import { startOutboxHousekeeping } from './outbox-housekeeping.ts';
import { readOutboxEndpoint } from './read-outbox-endpoint.ts';
import { transactionWithOutbox } from './transaction-with-outbox.ts';
import { registerOutboxMetrics } from './outbox-metrics.ts';
import { startRelay } from './relay.ts';
import {
  type IdempotentWrites,
  type IdempotentUnitOfWork,
  idempotentUnitOfWork,
} from '../idempotency/idempotent-unit-of-work.ts';

interface ProducerOptions {
  readonly producer: Producer;
  readonly database: Database;
  readonly bus: Bus;
  /** how often the relay polls for events that no commit of this process announced */
  readonly intervalMs: number;
  /** rows that every consumer has acknowledged are deleted after this time */
  readonly retentionHours: number;
  /** stored replies to writes with an `Idempotency-Key` are deleted after this time; left out where the producer stores no replies */
  readonly idempotencyRetentionHours?: number;
  /** the registry for the metrics of the outbox */
  readonly metrics: Registry | undefined;
  readonly log: Log;
}

/** The producer side of an outbox: the unit of work that records messages, the endpoint that reads them, and two background loops. */
export interface OutboxProducer extends IdempotentWrites {
  readonly work: IdempotentUnitOfWork;
  readonly endpoint: Endpoint;
  /** Stores the checkpoints of consumers and deletes expired rows; a loop does it every ten seconds. */
  readonly runHousekeeping: () => Promise<void>;
  /** Ends the relay and the housekeeping. */
  readonly stop: () => Promise<void>;
}

export const startOutboxProducer = (options: ProducerOptions): OutboxProducer => {
  const { metrics, producer, database, bus } = options;
  const hasStream = bus.publish !== undefined;
  const acknowledgements = unstoredAcknowledgements();
  const relay = startRelay(options);
  const housekeeping = startOutboxHousekeeping({ ...options, acknowledgements, hasStream });
  if (metrics !== undefined) registerOutboxMetrics(metrics, { producer, database, hasStream });
  return {
    ...idempotentUnitOfWork(database, transactionWithOutbox(database, relay.wake)),
    endpoint: readOutboxEndpoint(producer, database, acknowledgements),
    runHousekeeping: housekeeping.run,
    stop: async () => {
      await relay.stop();
      await housekeeping.stop();
    },
  };
};
