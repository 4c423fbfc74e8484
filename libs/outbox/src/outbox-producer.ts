import type { Bus, Endpoint } from '@bunting/bus';
import { consumersOf, type OutboxTopic, type Producer } from '@bunting/contracts';
import { type Database, prepared, type ReadDatabase } from '@bunting/database';
import type { Log } from '@bunting/runtime';
import { Gauge, type Registry } from 'prom-client';
import { startOutboxHousekeeping, unstoredAcknowledgements } from './housekeeping.ts';
import { type IdempotentUnitOfWork, idempotentUnitOfWork, type IdempotentWrites } from './idempotent-unit-of-work.ts';
import { type CurrentStates, readOutboxEndpoint } from './read-outbox.ts';
import { startRelay } from './relay.ts';
import { transactionWithOutbox } from './transaction-with-outbox.ts';

interface ProducerOptions {
  readonly producer: Producer;
  readonly database: Database;
  readonly bus: Bus;
  /** for entities whose states are not stored in messages, but read with them */
  readonly currentStates?: CurrentStates;
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

export function startOutboxProducer(options: ProducerOptions): OutboxProducer {
  const { metrics, producer, database, bus } = options;
  const hasStream = bus.publish !== undefined;
  const acknowledgements = unstoredAcknowledgements();
  const relay = startRelay(options);
  const housekeeping = startOutboxHousekeeping({ ...options, acknowledgements, hasStream });
  if (metrics !== undefined) registerOutboxMetrics(metrics, { producer, database, hasStream });
  return {
    ...idempotentUnitOfWork(database, transactionWithOutbox(database, relay.beginCommit)),
    endpoint: readOutboxEndpoint(options, acknowledgements),
    runHousekeeping: housekeeping.run,
    stop: async () => {
      await relay.stop();
      await housekeeping.stop();
    },
  };
}

const unpublished = prepared(`
  select topic.position - topic.published as events, greatest(0, extract(epoch from clock_timestamp() - least(
    (select recorded_at from outbox where topic = 'event' and position > topic.published order by position limit 1),
    (select recorded_at from outbox where topic = 'event' and position is null order by id limit 1)
  )))::float8 as seconds
  from outbox_topic topic where topic = 'event'`);

const consumerLags = prepared(`
  select topic, consumer, greatest(0, head.position - coalesce(reader.position, 0)) as messages
  from json_to_recordset($1::json) as expected (topic text, consumer text)
  join outbox_topic head using (topic)
  left join outbox_consumer reader using (topic, consumer)`);

/**
 * Registers the lag of the stream of events and of the consumers. While the database is unreachable the last values are served.
 */
function registerOutboxMetrics(
  registry: Registry,
  {
    producer,
    database,
    hasStream,
  }: { readonly producer: Producer; readonly database: ReadDatabase; readonly hasStream: boolean },
): void {
  const registers = [registry];
  const oldest = new Gauge({
    name: 'bunting_outbox_oldest_unpublished_seconds',
    help: 'age of the oldest event that is not in the stream yet; 0 for none',
    registers,
  });
  new Gauge({
    name: 'bunting_outbox_unpublished_events',
    help: 'events that are not in the stream yet',
    registers,
    async collect() {
      if (!hasStream) return;
      const [row] = await database.read<{ events: number; seconds: number | null }>(unpublished).catch(() => []);
      if (row === undefined) return;
      this.set(row.events);
      oldest.set(row.seconds ?? 0);
    },
  });
  const expected = JSON.stringify(
    Object.entries(consumersOf[producer]).flatMap(([topic, consumers]) =>
      consumers.map((consumer) => ({ topic, consumer })),
    ),
  );
  new Gauge({
    name: 'bunting_outbox_consumer_lag_messages',
    help: 'messages that a consumer has not confirmed yet; it confirms within ten seconds',
    labelNames: ['topic', 'consumer'],
    registers,
    async collect() {
      const lags = await database
        .read<{ topic: OutboxTopic; consumer: string; messages: number }>(consumerLags, [expected])
        .catch(() => []);
      for (const { topic, consumer, messages } of lags) this.set({ topic, consumer }, messages);
    },
  });
}
