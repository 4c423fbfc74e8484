import { consumersOf, OutboxTopic, type Producer } from '@bunting/contracts';
import { type Database, onlyRow } from '@bunting/database';
import { type Log, startLoop } from '@bunting/runtime';
import { dropExpiredRepliesSql } from './idempotency-store.ts';
import { streamTopic } from './relay.ts';

interface OutboxHousekeepingOptions {
  readonly producer: Producer;
  readonly database: Database;
  readonly acknowledgements: Acknowledgements;
  /** whether the relay publishes to a stream: rows are not deleted before that */
  readonly hasStream: boolean;
  /** rows that every consumer has acknowledged are deleted after this time */
  readonly retentionHours: number;
  /** stored replies to writes with an `Idempotency-Key` are deleted after this time; left out where the producer stores no replies */
  readonly idempotencyRetentionHours?: number;
  readonly log: Log;
}

const intervalMs = 10_000;
/** The interval of runs without new checkpoints, for rows and replies that have expired. */
const expiryIntervalMs = 600_000;

const tryLock = `select pg_try_advisory_xact_lock(hashtext('outbox housekeeping')) as won`;

/** Stores the checkpoints that consumers have acknowledged. */
const storeAcknowledgements = `
  insert into outbox_consumer (topic, consumer, position)
  select topic, consumer, position from json_to_recordset($1::json) as row (topic text, consumer text, position bigint)
  on conflict (topic, consumer) do update
  set position = greatest(outbox_consumer.position, excluded.position), confirmed_at = now()`;

/** The number of rows that one run of housekeeping examines per topic. */
const housekeepingBatchSize = 5_000;

/**
 * Deletes the oldest rows that every consumer has acknowledged, and returns the last examined position of each topic that has more.
 * Reads at most `housekeepingBatchSize` rows per topic, however large the outbox is, and only one if the oldest row has not expired.
 * Values: retention in hours, the consumers, the position to start after by topic, and the topic that is published to a stream, or null: its rows
 * are also kept until they are published.
 */
const pruneRows = `
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
      select topic, position, entity_key, recorded_at < now() - make_interval(hours => $1) as is_old from outbox
      where topic = start.topic and position > start.after and position < confirmed.position and ($4::text is distinct from start.topic or position < outbox_topic.published)
        and (select recorded_at from outbox where topic = start.topic and position > start.after order by position limit 1)
          < now() - make_interval(hours => $1)
      order by position limit ${housekeepingBatchSize}
    ) as row
  ), dropped as (
    delete from outbox using examined
    where outbox.topic = examined.topic and outbox.position = examined.position and is_old and (examined.topic = 'event' or exists (
      select from outbox newer
      where newer.topic = examined.topic and newer.entity_key = examined.entity_key and newer.position > examined.position))
  )
  select topic, max(position) as after from examined
  group by topic having count(*) = ${housekeepingBatchSize} and bool_and(is_old)`;

/** Stores the checkpoints that consumers report, and deletes rows and stored replies that have expired. Every replica runs it; one deletes. */
export function startOutboxHousekeeping(options: OutboxHousekeepingOptions) {
  const { producer, database, acknowledgements, hasStream, retentionHours, idempotencyRetentionHours, log } = options;
  const topics = OutboxTopic.enum;
  const consumers = JSON.stringify(
    topics.flatMap((topic) => consumersOf[producer][topic].map((consumer) => ({ topic, consumer }))),
  );
  /** by topic, the position up to which the outbox was examined; only topics that have more rows */
  const examinedTo = new Map<OutboxTopic, number>();
  let lastRunAt = performance.now();

  /**
   * Stores the checkpoints of consumers and deletes expired rows that all consumers have acknowledged. The newest row of each entity is kept,
   * and so is the row at each checkpoint: by its uid the consumer detects that the outbox was restored from a backup.
   */
  const run = async (): Promise<void> => {
    lastRunAt = performance.now();
    const pending = acknowledgements.pending();
    const examined = await database.transaction(async ({ query }) => {
      if (pending.length > 0) {
        await query(storeAcknowledgements, [JSON.stringify(pending)]);
      }
      if (!onlyRow(await query<{ won: boolean }>(tryLock)).won) return [];
      const starts = topics.map((topic) => ({ topic, after: examinedTo.get(topic) ?? 0 }));
      const rows = await query<{ topic: OutboxTopic; after: number }>(pruneRows, [
        retentionHours,
        consumers,
        JSON.stringify(starts),
        hasStream ? streamTopic : null,
      ]);
      if (idempotencyRetentionHours !== undefined) await query(dropExpiredRepliesSql, [idempotencyRetentionHours]);
      return rows;
    });
    acknowledgements.markStored(pending);
    // Newer rows may supersede the remaining ones by now, so the next run after the last row starts at the first.
    examinedTo.clear();
    for (const { topic, after } of examined) examinedTo.set(topic, after);
  };

  const loop = startLoop({
    name: `The housekeeping of the outbox of ${producer}`,
    intervalMs,
    log,
    run: async () => {
      const isIdle = acknowledgements.pending().length === 0 && examinedTo.size === 0;
      if (isIdle && performance.now() - lastRunAt < expiryIntervalMs) return;
      await run();
    },
  });

  return {
    /** The job of the loop, which runs every ten seconds if there is work. */
    run,
    /** Ends the loop, and stores the last checkpoints. */
    stop: async (): Promise<void> => {
      await loop.stop();
      await run().catch(() => undefined);
    },
  };
}

/** The checkpoint of a consumer in a topic. */
interface Acknowledgement {
  readonly topic: OutboxTopic;
  readonly consumer: string;
  readonly position: number;
}

function keyOf({ topic, consumer }: Acknowledgement): string {
  return `${topic} ${consumer}`;
}

/** The checkpoints that consumers report in their reads, in memory until housekeeping stores them. */
export function unstoredAcknowledgements() {
  const latest = new Map<string, Acknowledgement>();
  const stored = new Map<string, number>();
  return {
    add: (acknowledgement: Acknowledgement): void => {
      const key = keyOf(acknowledgement);
      if ((latest.get(key)?.position ?? -1) < acknowledgement.position) latest.set(key, acknowledgement);
    },
    /** The checkpoints that are not stored yet. */
    pending: (): readonly Acknowledgement[] =>
      [...latest.values()].filter((acknowledgement) => stored.get(keyOf(acknowledgement)) !== acknowledgement.position),
    markStored: (acknowledged: readonly Acknowledgement[]): void => {
      for (const acknowledgement of acknowledged) {
        stored.set(keyOf(acknowledgement), acknowledgement.position);
        // Consumers report lower positions after a backup of the producer was restored.
        if (latest.get(keyOf(acknowledgement))?.position === acknowledgement.position)
          latest.delete(keyOf(acknowledgement));
      }
    },
  };
}
export type Acknowledgements = ReturnType<typeof unstoredAcknowledgements>;
