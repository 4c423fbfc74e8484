import type { Bus, IntegrationEvent } from '@bunting/bus';
import { OutboxTopic, type Producer } from '@bunting/contracts';
import { type Database, onlyRow, prepared } from '@bunting/database';
import { type Log, startLoop } from '@bunting/runtime';
import { inLinkedSpan, type SpanOptions } from '@bunting/tracing';
import { pageAfterSql } from './read-outbox.ts';

interface RelayOptions {
  readonly producer: Producer;
  readonly database: Database;
  readonly bus: Bus;
  /** how often to poll for events that no commit of this process announced */
  readonly intervalMs: number;
  readonly log: Log;
}

interface UnpublishedRow {
  readonly position: number;
  readonly uid: string;
  readonly type: string;
  readonly traceparent: string | null;
  readonly message: string;
}

/** The topic that is published to the stream, if the bus has one. */
export const streamTopic: OutboxTopic = 'event';
const batchSize = 500;
/** Limits the memory of a batch. The bus carries each row as a message of its own, so its limit of a message does not apply. */
const batchBytes = 4 * 1024 * 1024;
/** Events of commits within this time are published in one batch. */
const publishingPauseMs = 50;
/** The delay before a retry while another process holds the lock to publish. */
const contendedPauseMs = 200;
const maxBackoffMs = 5_000;
const endOfEvents = prepared(
  `select outbox_head('${streamTopic}') as head, (select published from outbox_topic where topic = '${streamTopic}') as published`,
);

const tryLock = `select pg_try_advisory_xact_lock(hashtext('outbox relay')) as won`;
const unpublished = pageAfterSql(
  '(select published from outbox_topic where topic = $1)',
  String(batchSize),
  batchBytes,
);

/** The options of the span in which a batch is published, by the semantic conventions of OpenTelemetry for messaging. */
function publishSpanOptions(producer: Producer, count: number): SpanOptions {
  return {
    name: `send bunting-${producer}`,
    kind: 'producer',
    attributes: {
      'messaging.system': 'nats',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.destination.name': `bunting-${producer}`,
      'messaging.batch.message_count': count,
    },
  };
}

/**
 * Wakes consumers, and publishes events in the order of their positions if the bus has a stream. One replica of a service publishes at a
 * time: it holds an advisory lock until its batch is marked as published. A batch that was published but not marked is published again: the
 * stream deduplicates it by the ids of its events.
 */
export function startRelay(options: RelayOptions) {
  const { producer, database, bus, intervalMs, log } = options;
  const { publish } = bus;
  const publishBatch = (send: NonNullable<Bus['publish']>): Promise<number | undefined> =>
    database.transaction(async ({ query }) => {
      if (!onlyRow(await query<{ won: boolean }>(tryLock)).won) return undefined;
      const rows = await query<UnpublishedRow>(unpublished, [streamTopic]);
      const last = rows.at(-1)?.position;
      if (last === undefined) return Number.POSITIVE_INFINITY;
      const events = rows.map(({ uid, type, traceparent, message }): IntegrationEvent => {
        return { subject: `event.${producer}.${type}`, id: uid, payload: message, traceparent };
      });
      await inLinkedSpan(
        () => publishSpanOptions(producer, rows.length),
        rows.map(({ traceparent }) => traceparent),
        () => send(events),
      );
      await query(`update outbox_topic set published = greatest(published, $1) where topic = '${streamTopic}'`, [last]);
      return last;
    });

  /** @returns milliseconds until the next run: 0 if more events are waiting */
  const relayEvents = async (send: NonNullable<Bus['publish']>): Promise<number> => {
    const end = onlyRow(await database.read<{ head: number; published: number }>(endOfEvents));
    if (end.published >= end.head) return intervalMs;
    const last = await publishBatch(send);
    if (last === undefined) return contendedPauseMs;
    return last < end.head ? 0 : intervalMs;
  };

  const relaying =
    publish === undefined
      ? undefined
      : startLoop({
          name: `The relay of ${producer}`,
          intervalMs,
          minIntervalMs: publishingPauseMs,
          maxBackoffMs,
          log,
          run: () => relayEvents(publish),
        });

  /** Counts a commit that is about to be sent. @returns a function to call once it has ended: it wakes the consumers, and publishes new events */
  const beginCommit = (topics: ReadonlySet<OutboxTopic>): (() => void) => {
    const sources = [...topics].map((topic) => ({ producer, topic }));
    const ends = sources.map((source) => bus.commits?.begin(source));
    return () => {
      for (const end of ends) end?.();
      for (const source of sources) bus.notify(source);
      if (topics.has(streamTopic)) relaying?.wake();
    };
  };
  // From now on the commits of this producer are counted: a count of none would say nothing about those of a producer without one.
  beginCommit(new Set(OutboxTopic.enum))();

  return {
    beginCommit,
    stop: async (): Promise<void> => {
      await relaying?.stop();
    },
  };
}
