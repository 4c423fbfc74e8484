import { type Endpoint, implement } from '@bunting/bus';
import {
  consumersOf,
  type DeadLetter,
  deadLetterOperations,
  type OutboxMessage,
  type OutboxTopic,
  type Producer,
  type ServiceName,
} from '@bunting/contracts';
import {
  type Database,
  isDataError,
  onlyRow,
  prepared,
  type ReadDatabase,
  timestampSql,
  type Tx,
} from '@bunting/database';
import { type Log, type Loop, startLoop } from '@bunting/runtime';
import { Gauge, type Registry } from 'prom-client';

interface DeadLetterRetriesOptions extends DeadLetterSource {
  readonly consumer: ServiceName;
  readonly database: Database;
  /** Locks the projection's row in `consumer_checkpoint`, so that no other message is applied concurrently. */
  readonly lockCheckpoint: (tx: Tx) => Promise<unknown>;
  readonly apply: (tx: Tx, messages: readonly OutboxMessage[]) => Promise<void>;
  readonly onCommitted?: () => void;
  readonly log: Log;
}

/** How often to poll for dead letters that another process has added. */
const pollMs = 30_000;

/** Retries dead letters with backoff until they can be applied; all of them at the start, since a new version may have fixed the cause. */
export function startDeadLetterRetries(options: DeadLetterRetriesOptions): Loop {
  const { consumer, producer, topic, database, lockCheckpoint, apply, onCommitted, log } = options;
  const source = { producer, topic };

  const retryNext = async (startedAt: string): Promise<void> => {
    const claimed: { due?: DueDeadLetter | undefined } = {};
    try {
      const applied = await database.transaction(async (tx) => {
        await lockCheckpoint(tx);
        const due = await findDueDeadLetter(tx, source, startedAt);
        claimed.due = due;
        if (due === undefined) return undefined;
        await apply(tx, [due.message]);
        await deleteDeadLetter(tx, source, due.message.uid);
        return due;
      });
      if (applied === undefined) return;
      onCommitted?.();
      const { position, uid } = applied.message;
      log.warn(
        `${consumer} applied the dead letter ${topic} ${position} of ${producer} (uid ${uid}) at attempt ${applied.attempts + 1}.`,
      );
    } catch (error) {
      const { due } = claimed;
      if (due === undefined || !isDataError(error)) throw error;
      await database.transaction((tx) => postponeDeadLetter(tx, source, due.message.uid, deadLetterReason(error)));
    }
  };

  let startedAt: string | undefined;
  return startLoop({
    name: `The retry of dead letters of ${producer} in ${consumer}`,
    run: async () => {
      startedAt ??= await databaseTime(database);
      const dueInMs = (await msUntilNextAttempt(database, source, startedAt)) ?? pollMs;
      if (dueInMs > 0) return Math.min(dueInMs, pollMs);
      await retryNext(startedAt);
      return 0;
    },
    intervalMs: pollMs,
    maxBackoffMs: pollMs,
    logAfterFailingForMs: pollMs,
    log,
  });
}

const name = 'bunting_dead_letters';

/**
 * Registers the gauge `bunting_dead_letters`, once for all projections of a service: an operator has to act when it is above zero.
 */
export function registerDeadLetterMetrics(registry: Registry, consumer: ServiceName, database: ReadDatabase): void {
  if (registry.getSingleMetric(name) !== undefined) return;
  new Gauge({
    name,
    help: 'messages that the service could not apply because of their content and keeps retrying',
    labelNames: ['producer', 'topic'],
    registers: [registry],
    async collect() {
      // While the database is unreachable the metric has the last counts, and the other metrics are served.
      const counts = await countDeadLetters(consumer, database).catch(() => []);
      for (const { producer, topic, count } of counts) this.set({ producer, topic }, count);
    },
  });
}

/** The endpoint by which the audit service lists the dead letters of every service. */
export function readDeadLettersEndpoint(consumer: keyof typeof deadLetterOperations, database: ReadDatabase): Endpoint {
  return implement(deadLetterOperations[consumer], () => listDeadLetters(database));
}

/** The producer and the topic of a dead letter. */
interface DeadLetterSource {
  readonly producer: Producer;
  readonly topic: OutboxTopic;
}

/** Replaces NUL and lone surrogates, which PostgreSQL refuses and a reason may quote from a caller's input. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** Why a message was not applied. A value that PostgreSQL quotes is left out: it may be a secret. */
export function deadLetterReason(error: unknown): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const text = String(message ?? error);
  return typeof code === 'string' && code.startsWith('22') ? (text.split(':', 1)[0] ?? '') : text;
}

/** The key of the entity that a state describes; null for events and malformed states. */
function entityKeyOf(topic: OutboxTopic, { payload }: OutboxMessage): string | null {
  if (topic !== 'state' || typeof payload !== 'object' || payload === null) return null;
  const { entity, id } = payload as { readonly entity?: unknown; readonly id?: unknown };
  return typeof entity === 'string' && typeof id === 'string' ? storable(`${entity}:${id}`) : null;
}

/**
 * SQL: the backoff before the next attempt. It equals the time since the first failure, so it doubles; between five seconds and an hour,
 * with a jitter of 25 percent.
 */
function backoffSql(failedAt: string): string {
  return `least(greatest(now() - ${failedAt}, interval '5 seconds'), interval '1 hour') * (0.75 + random() / 2)`;
}

const insertLetter = `
  insert into dead_letter (producer, topic, position, uid, type, recorded_at, traceparent, payload, entity_key, reason, attempts, next_attempt_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() + ${backoffSql('now()')})
  on conflict (producer, topic, uid) do nothing`;

/** Stores a message that could not be applied, with the reason. It stays until an attempt succeeds. */
export async function addDeadLetter(
  { query }: Pick<Tx, 'query'>,
  { producer, topic }: DeadLetterSource,
  message: OutboxMessage,
  failure: { readonly reason: string; readonly attempts: number },
): Promise<void> {
  const { position, uid, type, recordedAt, traceparent, payload } = message;
  await query(insertLetter, [
    producer,
    topic,
    position,
    uid,
    storable(type),
    recordedAt,
    traceparent,
    JSON.stringify(payload ?? null),
    entityKeyOf(topic, message),
    storable(failure.reason),
    failure.attempts,
  ]);
}

/** Deletes dead letters whose state is superseded by a newer state of the same entity. */
export async function deleteSupersededDeadLetters(
  { query }: Pick<Tx, 'query'>,
  { producer, topic }: DeadLetterSource,
  applied: readonly OutboxMessage[],
): Promise<void> {
  if (topic !== 'state' || applied.length === 0) return;
  const keys = applied.map((message) => entityKeyOf(topic, message)).filter((key) => key !== null);
  await query('delete from dead_letter where producer = $1 and topic = $2 and entity_key = any($3::text[])', [
    producer,
    topic,
    keys,
  ]);
}

/**
 * Deletes the dead states of a producer that was restored from a backup: they may be newer than the backup, and all states of the
 * producer are applied again anyway.
 */
export async function deleteDeadLettersOfStates(
  { query }: Pick<Tx, 'query'>,
  { producer, topic }: DeadLetterSource,
): Promise<void> {
  if (topic === 'state') await query('delete from dead_letter where producer = $1 and topic = $2', [producer, topic]);
}

const readTime = prepared('select clock_timestamp()::text as now');

/** The time by the database's clock, for comparison with stored times. */
async function databaseTime(database: ReadDatabase): Promise<string> {
  return onlyRow(await database.read<{ now: string }>(readTime)).now;
}

/**
 * SQL: an attempt is due at its time, or when the last one preceded `$3`, the start of this process, which may run a fixed version. When the
 * clock of the database was set back, what failed before is due, and a start that seems to be in the future makes nothing due all the time.
 */
const isDueSql = `(next_attempt_at <= now() or last_failed_at > now() + interval '1 minute'
  or (last_failed_at < $3::timestamptz and $3::timestamptz <= now()))`;

const dueInMs =
  prepared(`select min(case when ${isDueSql} then 0 else extract(epoch from next_attempt_at - now()) * 1000 end)::double precision as "dueInMs"
       from dead_letter where producer = $1 and topic = $2`);

/** The milliseconds until the next attempt is due, 0 when one is due; undefined without dead letters. */
async function msUntilNextAttempt(
  database: ReadDatabase,
  { producer, topic }: DeadLetterSource,
  startedAt: string,
): Promise<number | undefined> {
  const rows = await database.read<{ dueInMs: number | null }>(dueInMs, [producer, topic, startedAt]);
  return onlyRow(rows).dueInMs ?? undefined;
}

/** A dead letter whose next attempt is due, and the number of its attempts so far. */
interface DueDeadLetter {
  readonly message: OutboxMessage;
  readonly attempts: number;
}

/** The first dead letter that is due. The projection's row in `consumer_checkpoint` must be locked, so that no other process retries the same one. */
async function findDueDeadLetter(
  { query }: Pick<Tx, 'query'>,
  { producer, topic }: DeadLetterSource,
  startedAt: string,
): Promise<DueDeadLetter | undefined> {
  const [row] = await query<OutboxMessage & { readonly attempts: number }>(
    `select position, uid, type, ${timestampSql('recorded_at')} as "recordedAt", traceparent, payload, attempts from dead_letter
     where producer = $1 and topic = $2 and ${isDueSql} order by position limit 1`,
    [producer, topic, startedAt],
  );
  if (row === undefined) return undefined;
  const { attempts, ...message } = row;
  return { attempts, message };
}

function deleteDeadLetter({ query }: Pick<Tx, 'query'>, { producer, topic }: DeadLetterSource, uid: string) {
  return query('delete from dead_letter where producer = $1 and topic = $2 and uid = $3', [producer, topic, uid]);
}

function postponeDeadLetter(
  { query }: Pick<Tx, 'query'>,
  { producer, topic }: DeadLetterSource,
  uid: string,
  reason: string,
) {
  return query(
    `update dead_letter set attempts = attempts + 1, reason = $4, last_failed_at = now(),
                            next_attempt_at = now() + ${backoffSql('failed_at')}
     where producer = $1 and topic = $2 and uid = $3`,
    [producer, topic, uid, storable(reason)],
  );
}

const maxListed = 1_000;
const deadLetters =
  prepared(`select producer, topic, position, uid, type, reason, attempts, ${timestampSql('failed_at')} as "failedAt",
              ${timestampSql('last_failed_at')} as "lastFailedAt", ${timestampSql('next_attempt_at')} as "nextAttemptAt"
       from dead_letter order by failed_at, producer, topic, position limit ${maxListed}`);

/** The dead letters of a consumer, the oldest first, at most 1,000; without payloads, which may hold secrets. */
export function listDeadLetters(database: ReadDatabase): Promise<DeadLetter[]> {
  return database.read<DeadLetter>(deadLetters);
}

const deadLetterCounts = prepared(
  'select producer, topic, count(*) as count from dead_letter group by producer, topic',
);

/** The number of a consumer's dead letters for each topic that it consumes, including zeros. */
async function countDeadLetters(
  consumer: ServiceName,
  database: ReadDatabase,
): Promise<(DeadLetterSource & { readonly count: number })[]> {
  const rows = await database.read<DeadLetterSource & { count: number }>(deadLetterCounts);
  const consumedTopics = (Object.keys(consumersOf) as Producer[]).flatMap((producer) =>
    (['event', 'state'] as const)
      .filter((topic) => consumersOf[producer][topic].includes(consumer))
      .map((topic) => ({ producer, topic })),
  );
  return consumedTopics.map((source) => ({
    ...source,
    count: rows.find(({ producer, topic }) => producer === source.producer && topic === source.topic)?.count ?? 0,
  }));
}
