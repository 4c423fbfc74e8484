import type { Bus, Fact } from '@bunting/bus';
import { followersOf, type OutboxTopic, type Producer } from '@bunting/contracts';
import type { Database, Session } from '@bunting/database';
import { type Confirmations, headOf, pageAfter } from './feed.ts';
import { alarm } from './alarm.ts';
import { dropOldAnswers } from './once.ts';

export interface RelayOptions {
  readonly producer: Producer;
  readonly database: Database;
  readonly bus: Bus;
  readonly confirmed: Confirmations;
  /** how often to look for work that nobody announced; announced work is done at once */
  readonly intervalMs: number;
  /** rows that every follower has confirmed are kept at least this long */
  readonly retentionHours: number;
  /** answers of writes with an `Idempotency-Key` are kept at least this long; left out where there are none */
  readonly answersKeptHours?: number;
  readonly warn: (message: string) => void;
}

export interface Relay {
  /** There is something new to publish. */
  wake(): void;
  readonly leading: boolean;
  /** Writes down what consumers confirmed and, when leading, drops what nobody needs; done every ten seconds by itself. */
  keepHouse(): Promise<void>;
  stop(): Promise<void>;
}

interface Unpublished {
  readonly position: number;
  readonly uid: string;
  readonly type: string;
  readonly traceparent: string | null;
  readonly message: string;
}

/** What the relay at work holds: a session with the advisory lock, which ends when it is given back. */
interface Lead {
  readonly session: Session;
  readonly epoch: number;
  readonly giveBack: () => void;
}

const topics: readonly OutboxTopic[] = ['event', 'state'];
const batchSize = 500;
/** Each row is a message of its own: this bounds what is held in memory, and not what the bus carries. */
const batchBytes = 4 * 1024 * 1024;
const housekeepingEveryMs = 10_000;
const longestPauseMs = 5_000;

/** The bus did not take what was to be published: the session with the database is as good as before. */
class NotPublishedError extends Error {}

const unpublished = pageAfter('(select published from outbox_topic where topic = $1)', String(batchSize), batchBytes);

/** How many rows are looked at once for whether they are still needed. */
const lookedAtOnce = 5_000;

/**
 * Drops of the oldest rows those that every follower has confirmed, and tells up to where it has looked, if there is more.
 * It reads no more than it looks at, however large the outbox is, and where the oldest row is to be kept it reads that one alone.
 * Values: how many hours rows are kept, the followers, and after which position to look.
 */
const dropUnneeded = `
  with confirmed as (
    select topic, min(position) as position from outbox_consumer
    join json_to_recordset($2::json) as follower (topic text, consumer text) using (topic, consumer)
    group by topic
    having count(*) = (select count(*) from json_to_recordset($2::json) as f (topic text) where f.topic = outbox_consumer.topic)
  ), looked as materialized (
    select row.* from confirmed
    join outbox_topic using (topic)
    join json_to_recordset($3::json) as place (topic text, after bigint) using (topic)
    cross join lateral (
      select id, topic, position, entity_key, recorded_at < now() - make_interval(hours => $1) as is_old from outbox
      where topic = place.topic and position > place.after and position < least(confirmed.position, outbox_topic.published)
        and (select recorded_at from outbox where topic = place.topic and position > place.after order by position limit 1)
          < now() - make_interval(hours => $1)
      order by position limit ${lookedAtOnce}
    ) as row
  ), dropped as (
    delete from outbox using looked where outbox.id = looked.id and is_old and (looked.topic = 'event' or exists (
      select from outbox newer
      where newer.topic = 'state' and newer.entity_key = looked.entity_key and newer.position > looked.position))
  )
  select topic, max(position) as after from looked
  group by topic having count(*) = ${lookedAtOnce} and bool_and(is_old)`;

/**
 * Publishes the outbox in the order of its positions. One relay per service is at work: it holds an advisory lock, and each
 * step it writes down is fenced by an epoch, so that one that lost the lock without noticing changes nothing.
 */
export const startRelay = (options: RelayOptions): Relay => {
  const { producer, database, bus, confirmed, intervalMs, retentionHours, answersKeptHours, warn } = options;
  const bell = alarm();
  const end = alarm();
  const followers = JSON.stringify(
    topics.flatMap((topic) => followersOf[producer][topic].map((consumer) => ({ topic, consumer }))),
  );
  let lead: Lead | undefined;
  let failing = false;
  let pauseMs = intervalMs;
  let stopped = false;
  let housekeptAt = performance.now();
  /** up to where it was looked for what is no longer needed, where there is more behind */
  const lookedTo = new Map<OutboxTopic, number>();

  const resign = () => {
    const { giveBack } = lead ?? {};
    lead = undefined;
    giveBack?.();
  };

  const takeLead = async (): Promise<void> => {
    const session = await database.session();
    const onLoss = () => void (lead?.session === session && resign());
    session.on('error', onLoss);
    const giveBack = (isOver: boolean) => {
      session.off('error', onLoss);
      session.release(isOver);
    };
    try {
      const { rows } = await session.query<{ won: boolean }>(
        "select pg_try_advisory_lock(hashtext('outbox relay')) as won",
      );
      if (rows[0]?.won !== true) return giveBack(false);
      const fenced = await session.query<{ epoch: number }>(
        'update outbox_topic set epoch = epoch + 1 returning epoch',
      );
      const epoch = Math.max(...fenced.rows.map((row) => row.epoch));
      await session.query('update outbox_topic set epoch = $1', [epoch]);
      lead = { session, epoch, giveBack: () => giveBack(true) };
    } catch (error) {
      giveBack(true);
      throw error;
    }
  };

  const relayTopic = async (
    topic: OutboxTopic,
    { session, epoch }: Pick<Lead, 'session' | 'epoch'>,
  ): Promise<boolean> => {
    const [end] = (await session.query<{ head: number }>({ ...headOf, values: [topic] })).rows;
    const { rows } = await session.query<Unpublished>({
      name: 'outbox-unpublished',
      text: unpublished,
      values: [topic],
    });
    const last = rows.at(-1)?.position;
    if (last === undefined) return false;
    const facts = rows.map(({ uid, type, traceparent, message }): Fact => ({
      subject: `${topic}.${producer}.${type}`,
      id: uid,
      payload: message,
      traceparent,
    }));
    await bus.publish(facts).catch((error: Error) => {
      throw new NotPublishedError(error.message, { cause: error });
    });
    const { rowCount } = await session.query(
      'update outbox_topic set published = greatest(published, $2) where topic = $1 and epoch = $3',
      [topic, last, epoch],
    );
    if (rowCount === 0) throw new Error('another relay has taken over');
    return last < (end?.head ?? 0);
  };

  /**
   * Writes down what consumers confirmed, and drops what nobody needs any more. Of a state the newest row always stays, and so
   * does the row at which a follower stands: by it the follower knows this outbox from one that was restored from a backup.
   */
  const keepHouse = async (): Promise<void> => {
    housekeptAt = performance.now();
    const taken = confirmed.take();
    const leading = lead !== undefined;
    const looked = await database.transaction(async ({ query }) => {
      if (taken.length > 0) {
        await query(
          `insert into outbox_consumer (topic, consumer, position)
           select topic, consumer, position from json_to_recordset($1::json) as row (topic text, consumer text, position bigint)
           on conflict (topic, consumer) do update
           set position = greatest(outbox_consumer.position, excluded.position), confirmed_at = now()`,
          [JSON.stringify(taken)],
        );
      }
      if (!leading) return [];
      const places = topics.map((topic) => ({ topic, after: lookedTo.get(topic) ?? 0 }));
      const rows = await query<{ topic: OutboxTopic; after: number }>(dropUnneeded, [
        retentionHours,
        followers,
        JSON.stringify(places),
      ]);
      if (answersKeptHours !== undefined) await query(dropOldAnswers, [answersKeptHours]);
      return rows;
    });
    // What was kept may be superseded by now: at the end it begins again.
    lookedTo.clear();
    for (const { topic, after } of looked) lookedTo.set(topic, after);
  };

  const running = (async () => {
    while (!stopped) {
      let more = false;
      try {
        if (lead === undefined) await takeLead();
        for (const topic of topics) {
          // The lock may be lost while a topic is relayed.
          if (lead === undefined) break;
          more = (await relayTopic(topic, lead)) || more;
        }
        if (performance.now() - housekeptAt > housekeepingEveryMs) await keepHouse();
        failing = false;
        pauseMs = intervalMs;
      } catch (error) {
        if (!failing && !stopped) warn(`The relay of ${producer} tries again: ${(error as Error).message}`);
        failing = true;
        more = false;
        const isBusAway = error instanceof NotPublishedError;
        pauseMs = isBusAway ? Math.min(2 * pauseMs, longestPauseMs) : intervalMs;
        // Where the bus stays away from this process alone, another may reach it.
        if (!isBusAway || pauseMs === longestPauseMs) resign();
      }
      if (stopped) break;
      // What is new does not bring the bus back any sooner.
      if (pauseMs > intervalMs) await end.wait(pauseMs);
      else if (!more) await bell.wait(intervalMs);
    }
    await keepHouse().catch(() => undefined);
    resign();
  })();

  return {
    wake: () => bell.ring(),
    get leading() {
      return lead !== undefined;
    },
    keepHouse,
    stop: async () => {
      stopped = true;
      bell.ring();
      end.ring();
      await running;
    },
  };
};
