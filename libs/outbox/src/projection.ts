import { type Bus, call, systemContext } from '@bunting/bus';
import {
  followersOf,
  type OutboxMessage,
  type OutboxTopic,
  type Producer,
  readOutboxOf,
  Refusal,
  type ServiceName,
} from '@bunting/contracts';
import type { Database, Tx } from '@bunting/database';
import { alarm } from './alarm.ts';

export interface ProjectionOptions {
  /** the service that keeps the projection */
  readonly consumer: ServiceName;
  readonly producer: Producer;
  readonly topic: OutboxTopic;
  readonly bus: Bus;
  readonly database: Database;
  /** Applies messages in their order. They may have been applied before, when the projection was restored from a copy. */
  readonly apply: (tx: Tx, messages: readonly OutboxMessage[]) => Promise<void>;
  /** how often to ask the producer when nothing is heard */
  readonly intervalMs: number;
  readonly warn: (message: string) => void;
}

export interface Projection {
  /**
   * Waits until everything that the producer had committed when this was called is applied, at most so long.
   * @returns how many milliseconds the projection is behind: 0 when it is not.
   */
  caughtUp(atMostMs: number): Promise<number>;
  /** up to which position everything is applied */
  readonly applied: number;
  stop(): Promise<void>;
}

const pageSize = 500;
const triesBeforeParking = 3;
/** What is kept of messages that came before their turn. What does not fit is asked for when its turn comes. */
const keptAhead = 5_000;
/** A producer that is starting, or restarting, is nothing to warn of. */
const patienceMs = 5_000;

/** Up to which position a page is complete: what is missing before was dropped, and is superseded. It may end early. */
const completeUpTo = (head: number, messages: readonly OutboxMessage[]): number => messages.at(-1)?.position ?? head;

/**
 * Follows one topic of one producer. What the bus delivers is applied as long as it follows without a gap; after a gap, at
 * the start, and whenever somebody wants to be sure, the producer itself is asked. The bus may lose everything.
 */
export const startProjection = async (options: ProjectionOptions): Promise<Projection> => {
  const { consumer, producer, topic, bus, database, apply, intervalMs, warn } = options;
  // Who is not known to follow would find that rows were dropped before it had them.
  if (!followersOf[producer][topic].includes(consumer))
    throw new Error(`${consumer} follows ${topic}s of ${producer}: followersOf in @bunting/contracts has to say so.`);
  const bell = alarm();
  const ahead = new Map<number, { message: OutboxMessage; done: () => void }>();
  let waiting: { resolve: () => void; reject: (reason: unknown) => void }[] = [];
  let applied = 0;
  let freshAt = performance.now();
  let pulledAt = Number.NEGATIVE_INFINITY;
  let failingSince: number | undefined;
  let warned = false;
  let stopped = false;

  const positionForUpdate = async ({ query }: Tx): Promise<number> => {
    const [row] = await query<{ position: number }>(
      `insert into inbox (producer, topic) values ($1, $2)
       on conflict (producer, topic) do update set topic = excluded.topic returning position`,
      [producer, topic],
    );
    return row?.position ?? 0;
  };
  const advance = ({ query }: Tx, position: number) =>
    query('update inbox set position = $3 where producer = $1 and topic = $2', [producer, topic, position]);

  /** Applies what is new of the messages and moves on to `upTo`. With a gap before them it only learns where it stands. */
  const applyMessages = (messages: readonly OutboxMessage[], upTo: number, gapAllowed: boolean): Promise<number> =>
    database.transaction(async (tx) => {
      const position = await positionForUpdate(tx);
      if (position >= upTo) return position;
      const fresh = messages.filter((message) => message.position > position);
      if (!gapAllowed && fresh[0]?.position !== position + 1) return position;
      if (fresh.length > 0) await apply(tx, fresh);
      await advance(tx, upTo);
      return upTo;
    });

  const park = (message: OutboxMessage, reason: string): Promise<number> => {
    warn(`${consumer} parks ${topic} ${message.position} of ${producer}, which it cannot apply: ${reason}`);
    return database.transaction(async (tx) => {
      const position = await positionForUpdate(tx);
      if (position >= message.position) return position;
      await tx.query(
        `insert into parked_message (producer, topic, position, uid, payload, reason) values ($1, $2, $3, $4, $5, $6)
         on conflict (producer, topic, position) do nothing`,
        [producer, topic, message.position, message.uid, JSON.stringify(message.payload), reason],
      );
      await advance(tx, message.position);
      return message.position;
    });
  };

  const applyOrPark = async (
    messages: readonly OutboxMessage[],
    upTo: number,
    gapAllowed: boolean,
  ): Promise<number> => {
    for (let tries = 1; ; tries++) {
      try {
        return await applyMessages(messages, upTo, gapAllowed);
      } catch (error) {
        // A database that is away heals by waiting; a message that cannot be applied does not.
        if (error instanceof Refusal && error.kind === 'ServiceUnavailable') throw error;
        if (tries < triesBeforeParking) continue;
        const [only] = messages;
        if (messages.length === 1 && only !== undefined) return park(only, (error as Error).message);
        if (messages.length === 0) throw error;
        let position = applied;
        for (const message of messages) position = await applyOrPark([message], message.position, true);
        return Math.max(position, await applyMessages([], upTo, true));
      }
    }
  };

  const moveTo = (position: number): void => {
    applied = Math.max(applied, position);
    for (const [at, { done }] of ahead) {
      if (at > applied) continue;
      ahead.delete(at);
      done();
    }
  };

  const applyDelivered = async (): Promise<boolean> => {
    const run: OutboxMessage[] = [];
    for (
      let next = ahead.get(applied + 1);
      next !== undefined && run.length < pageSize;
      next = ahead.get(applied + 1 + run.length)
    ) {
      run.push(next.message);
    }
    const last = run.at(-1);
    if (last === undefined) return false;
    moveTo(await applyOrPark(run, last.position, false));
    return applied >= last.position;
  };

  /** Asks the producer until everything is applied that it had committed when this began. */
  const pull = async (): Promise<void> => {
    const beganAt = performance.now();
    let barrier: number | undefined;
    do {
      const body = { topic, consumer, after: applied, limit: pageSize };
      const { head, messages } = await call(bus, readOutboxOf[producer], { body }, systemContext(10_000));
      barrier ??= head;
      const upTo = completeUpTo(head, messages as OutboxMessage[]);
      if (upTo > applied) moveTo(await applyOrPark(messages as OutboxMessage[], upTo, true));
    } while (applied < barrier && !stopped);
    pulledAt = beganAt;
    freshAt = beganAt;
  };

  const follow = async (): Promise<void> => {
    while (!stopped) {
      const asked = waiting;
      waiting = [];
      try {
        const delivered = asked.length === 0 && (await applyDelivered());
        if (!delivered && (asked.length > 0 || ahead.size > 0 || performance.now() - pulledAt >= intervalMs))
          await pull();
        for (const { resolve } of asked) resolve();
        failingSince = undefined;
        warned = false;
      } catch (error) {
        for (const { reject } of asked) reject(error);
        failingSince ??= performance.now();
        if (!warned && !stopped && performance.now() - failingSince > patienceMs) {
          warned = true;
          warn(`${consumer} cannot follow ${topic} of ${producer} now: ${(error as Error).message}`);
        }
        if (waiting.length === 0 && !stopped) await bell.wait(intervalMs);
        continue;
      }
      if (waiting.length === 0 && !ahead.has(applied + 1) && !stopped) await bell.wait(intervalMs);
    }
    for (const { reject } of waiting) reject(new Error('stopped'));
  };

  const deliver = (payload: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const message = JSON.parse(payload) as OutboxMessage;
      if (message.position <= applied) return resolve();
      if (stopped || ahead.size >= keptAhead || ahead.has(message.position)) return reject(new Error('not now'));
      ahead.set(message.position, { message, done: resolve });
      bell.ring();
    });

  applied = await database.transaction(positionForUpdate);
  const subscription = await bus.subscribe({ producer, topic }, consumer, deliver);
  const following = follow();

  return {
    caughtUp: async (atMostMs) => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(() => resolve('late'), atMostMs).unref();
      });
      const fresh = new Promise<void>((resolve, reject) => {
        if (stopped) return reject(new Error('stopped'));
        waiting.push({ resolve, reject });
        bell.ring();
      });
      const outcome = await Promise.race([fresh, late]).catch(() => 'late' as const);
      clearTimeout(timer);
      return outcome === 'late' ? Math.max(1, Math.round(performance.now() - freshAt)) : 0;
    },
    get applied() {
      return applied;
    },
    stop: async () => {
      stopped = true;
      bell.ring();
      await subscription.stop();
      await following;
    },
  };
};
