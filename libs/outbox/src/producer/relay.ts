import type { Bus, StreamEvent } from '@bunting/bus';
import { consumersOf, type OutboxTopic, type Producer } from '@bunting/contracts';
import type { Database, Statement } from '@bunting/database';
import { startLoop } from '@bunting/runtime';
import { inLinkedSpan, type SpanOptions } from '@bunting/tracing';
import { type Acknowledgements, pageAfter } from './read-outbox.ts';
import { dropExpiredReplies } from '../idempotency/idempotency-store.ts';

export interface RelayOptions {
  readonly producer: Producer;
  readonly database: Database;
  readonly bus: Bus;
  readonly confirmed: Acknowledgements;
  /** how often to poll for events that no commit of this process announced */
  readonly intervalMs: number;
  /** rows that every follower has confirmed are kept at least this long */
  readonly retentionHours: number;
  /** answers of writes with an `Idempotency-Key` are kept at least this long; left out where there are none */
  readonly idempotencyRetentionHours?: number;
  readonly warn: (message: string) => void;
}

interface Unpublished {
  readonly position: number;
  readonly uid: string;
  readonly type: string;
  readonly traceparent: string | null;
  readonly message: string;
}

const topics: readonly OutboxTopic[] = ['event', 'state', 'delivery'];
/** The topic that is published to the stream, if the bus has one. */
const streamTopic: OutboxTopic = 'event';
const batchSize = 500;
/** Limits the memory of a batch. The bus carries each row as a message of its own, so its limit does not apply. */
const batchBytes = 4 * 1024 * 1024;
/** Commits within this time are published together. */
const publishingPauseMs = 50;
/** The delay before a retry while another process holds the lock to publish. */
const contendedPauseMs = 200;
const maxBackoffMs = 5_000;
const housekeepingEveryMs = 10_000;
/** The interval of housekeeping without new checkpoints, for rows and replies that have expired. */
const droppingEveryMs = 600_000;

const endOfEvents: Statement = {
  name: 'outbox-end-of-events',
  text: `select outbox_head('${streamTopic}') as head, (select published from outbox_topic where topic = '${streamTopic}') as published`,
};

const unpublished = pageAfter('(select published from outbox_topic where topic = $1)', String(batchSize), batchBytes);

/** The number of rows that one run of housekeeping examines per topic. */
const housekeepingBatchSize = 5_000;

/**
 * Deletes the oldest rows that every consumer has confirmed, and returns the last examined position of each topic that has more.
 * Reads at most `housekeepingBatchSize` rows per topic, however large the outbox is, and only one if the oldest row has not expired.
 * Values: retention in hours, the consumers, the position to start after by topic, and the topic that is published to a stream, or null: its rows
 * are also kept until they are published.
 */
const dropUnneeded = `
  with confirmed as (
    select topic, min(position) as position from outbox_consumer
    join json_to_recordset($2::json) as follower (topic text, consumer text) using (topic, consumer)
    group by topic
    having count(*) = (select count(*) from json_to_recordset($2::json) as f (topic text) where f.topic = outbox_consumer.topic)
  ), examined as materialized (
    select row.* from confirmed
    join outbox_topic using (topic)
    join json_to_recordset($3::json) as start (topic text, after bigint) using (topic)
    cross join lateral (
      select id, topic, position, entity_key, recorded_at < now() - make_interval(hours => $1) as is_old from outbox
      where topic = start.topic and position > start.after and position < confirmed.position and ($4::text is distinct from start.topic or position < outbox_topic.published)
        and (select recorded_at from outbox where topic = start.topic and position > start.after order by position limit 1)
          < now() - make_interval(hours => $1)
      order by position limit ${housekeepingBatchSize}
    ) as row
  ), dropped as (
    delete from outbox using examined where outbox.id = examined.id and is_old and (examined.topic = 'event' or exists (
      select from outbox newer
      where newer.topic = examined.topic and newer.entity_key = examined.entity_key and newer.position > examined.position))
  )
  select topic, max(position) as after from examined
  group by topic having count(*) = ${housekeepingBatchSize} and bool_and(is_old)`;

/** The span of a batch that is published, by the semantic conventions of messaging. */
const publishSpan = (producer: Producer, count: number): SpanOptions => ({
  name: `send bunting-${producer}`,
  kind: 'producer',
  attributes: {
    'messaging.system': 'nats',
    'messaging.operation.name': 'publish',
    'messaging.operation.type': 'send',
    'messaging.destination.name': `bunting-${producer}`,
    'messaging.batch.message_count': count,
  },
});

const tryLock = (purpose: string): string => `select pg_try_advisory_xact_lock(hashtext('${purpose}')) as won`;

/**
 * Wakes consumers, publishes events in the order of their positions if the bus has a stream, and does the housekeeping. One replica of a
 * service publishes at a time: it holds an advisory lock until its batch is marked as published. A batch that was published but not
 * marked is published again: the stream deduplicates it by the ids of its events.
 */
export const startRelay = (options: RelayOptions) => {
  const { producer, database, bus, confirmed, intervalMs, retentionHours, idempotencyRetentionHours, warn } = options;
  const { publish } = bus;
  const consumers = JSON.stringify(
    topics.flatMap((topic) => consumersOf[producer][topic].map((consumer) => ({ topic, consumer }))),
  );
  /** the position by topic up to which housekeeping has examined the outbox, for topics with more rows */
  const examinedTo = new Map<OutboxTopic, number>();
  let droppedAt = performance.now();

  const publishBatch = (send: NonNullable<Bus['publish']>): Promise<number | undefined> =>
    database.transaction(async ({ query }) => {
      const [lock] = await query<{ won: boolean }>(tryLock('outbox relay'));
      if (lock?.won !== true) return undefined;
      const rows = await query<Unpublished>(unpublished, [streamTopic]);
      const last = rows.at(-1)?.position;
      if (last === undefined) return Number.POSITIVE_INFINITY;
      const events = rows.map(({ uid, type, traceparent, message }): StreamEvent => {
        return { subject: `event.${producer}.${type}`, id: uid, payload: message, traceparent };
      });
      await inLinkedSpan(
        () => publishSpan(producer, rows.length),
        rows.map(({ traceparent }) => traceparent),
        () => send(events),
      );
      await query(`update outbox_topic set published = greatest(published, $1) where topic = '${streamTopic}'`, [last]);
      return last;
    });

  /** @returns milliseconds until the next run: 0 if more events are waiting */
  const relayEvents = async (send: NonNullable<Bus['publish']>): Promise<number> => {
    const [end] = await database.read<{ head: number; published: number }>(endOfEvents);
    if (end === undefined || end.published >= end.head) return intervalMs;
    const last = await publishBatch(send);
    if (last === undefined) return contendedPauseMs;
    return last < end.head ? 0 : intervalMs;
  };

  /**
   * Stores the checkpoints of consumers and deletes expired rows that all consumers have confirmed. The newest row of each entity is kept,
   * and so is the row at each checkpoint: by its uid the consumer detects that the outbox was restored from a backup.
   */
  const runHousekeeping = async (): Promise<void> => {
    droppedAt = performance.now();
    const pending = confirmed.pending();
    const examined = await database.transaction(async ({ query }) => {
      if (pending.length > 0) {
        await query(
          `insert into outbox_consumer (topic, consumer, position)
           select topic, consumer, position from json_to_recordset($1::json) as row (topic text, consumer text, position bigint)
           on conflict (topic, consumer) do update
           set position = greatest(outbox_consumer.position, excluded.position), confirmed_at = now()`,
          [JSON.stringify(pending)],
        );
      }
      const [lock] = await query<{ won: boolean }>(tryLock('outbox housekeeping'));
      if (lock?.won !== true) return [];
      const starts = topics.map((topic) => ({ topic, after: examinedTo.get(topic) ?? 0 }));
      const rows = await query<{ topic: OutboxTopic; after: number }>(dropUnneeded, [
        retentionHours,
        consumers,
        JSON.stringify(starts),
        publish === undefined ? null : streamTopic,
      ]);
      if (idempotencyRetentionHours !== undefined) await query(dropExpiredReplies, [idempotencyRetentionHours]);
      return rows;
    });
    confirmed.stored(pending);
    // Rows that were kept may be superseded by now, so housekeeping starts over after the last row.
    examinedTo.clear();
    for (const { topic, after } of examined) examinedTo.set(topic, after);
  };

  const housekeeping = startLoop({
    name: `The housekeeping of the outbox of ${producer}`,
    intervalMs: housekeepingEveryMs,
    warn,
    run: async () => {
      const isIdle = confirmed.pending().length === 0 && examinedTo.size === 0;
      if (isIdle && performance.now() - droppedAt < droppingEveryMs) return;
      await runHousekeeping();
    },
  });
  const relaying =
    publish === undefined
      ? undefined
      : startLoop({
          name: `The relay of ${producer}`,
          intervalMs,
          minIntervalMs: publishingPauseMs,
          maxBackoffMs,
          warn,
          run: () => relayEvents(publish),
        });

  return {
    /** After a commit: wakes the consumers, and publishes new events. */
    wake: (): void => {
      for (const topic of topics) bus.notify({ producer, topic });
      relaying?.wake();
    },
    /** Stores the checkpoints of consumers and deletes expired rows. The relay runs it every ten seconds if there is work. */
    runHousekeeping,
    stop: async (): Promise<void> => {
      await Promise.all([relaying?.stop(), housekeeping.stop()]);
      await runHousekeeping().catch(() => undefined);
    },
  };
};
export type Relay = ReturnType<typeof startRelay>;
