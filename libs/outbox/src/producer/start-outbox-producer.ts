import type { Bus, Endpoint } from '@bunting/bus';
import type { Producer } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import { acknowledgements, readOutboxEndpoint } from './read-outbox.ts';
import { transactionWithOutbox } from './transaction-with-outbox.ts';
import type { Registry } from 'prom-client';
import { measureOutbox } from './outbox-metrics.ts';
import { type Relay, startRelay } from './relay.ts';
import { type IdempotentSteps, type UnitOfWork, idempotentUnitOfWork } from '../idempotency/idempotent-unit-of-work.ts';

export interface ProducerOptions {
  readonly producer: Producer;
  readonly database: Database;
  readonly bus: Bus;
  readonly intervalMs: number;
  readonly retentionHours: number;
  /** how long the answers of writes with an `Idempotency-Key` are kept at least; left out where there are none */
  readonly idempotencyRetentionHours?: number;
  /** takes the metrics of the outbox */
  readonly metrics?: Registry;
  readonly warn: (message: string) => void;
}

/** The producer side of an outbox: the unit of work that records messages, the endpoints that read them, and the relay that publishes events. */
export interface OutboxProducer extends IdempotentSteps {
  readonly work: UnitOfWork;
  readonly endpoint: Endpoint;
  readonly relay: Relay;
}

export const startOutboxProducer = (options: ProducerOptions): OutboxProducer => {
  const confirmed = acknowledgements();
  const relay = startRelay({ ...options, confirmed });
  const { metrics, producer, database, bus } = options;
  if (metrics !== undefined) measureOutbox(metrics, producer, database, bus.publish !== undefined);
  return {
    ...idempotentUnitOfWork(
      options.database,
      transactionWithOutbox(options.database, () => relay.wake()),
    ),
    endpoint: readOutboxEndpoint(options.producer, options.database, confirmed),
    relay,
  };
};
