import { type DeliveryStatus, notFound } from '@bunting/contracts';
import {
  type Database,
  isOverSql,
  onlyRow,
  prepared,
  type ReadDatabase,
  type Statement,
  timestampSql,
  type Tx,
} from '@bunting/database';
import DataLoader from 'dataloader';
import { maxRestMs } from './collect-batch.ts';
import { markBeginning } from './log-mark-store.ts';
import type { LogPosition } from './log-position.ts';
import { maxWaitMs } from './retry.ts';

/** A destination that this process delivers to until its lease ends or is taken back. */
export interface Claim extends LogPosition {
  readonly integrationId: number;
  readonly lease: string;
  /** how many restores of the log were noticed before */
  readonly generation: number;
  /** how many attempts failed since the last one that succeeded */
  readonly failures: number;
  /** the id of the last event of the batch that is sent next, once it was decided */
  readonly batchEnd: number | null;
  /** whether it has parked events, dead letters among them */
  readonly hasParked: boolean;
}

/** An event that failed, or that waits behind one of its flag. */
export interface ParkedDelivery {
  readonly id: number;
  readonly uid: string;
  readonly flag: string;
  /** the event as JSON text */
  readonly event: string;
  /** how many attempts have failed */
  readonly attempts: number;
}

/** An event to park: `nextAttemptMs` from now on, or never again where it is null, or after the one before it of its flag. */
export interface EventToPark extends Omit<ParkedDelivery, 'id'> {
  readonly nextAttemptMs: number | null | 'after others';
}

/** An attempt for the history that users see. */
export interface RecordedAttempt {
  readonly uid: string;
  readonly state: string;
  readonly stateDetails: string;
  readonly event: string;
  readonly details: string;
}

/** The result of a round of deliveries. */
export interface Round {
  readonly attempts: readonly RecordedAttempt[];
  /** uids of events that were accepted */
  readonly delivered: readonly string[];
  /** events that failed for the first time, or that wait behind one of their flag, in the order of the log */
  readonly parked: readonly EventToPark[];
  /** parked events that failed again */
  readonly failedAgain: readonly {
    readonly id: number;
    readonly attempts: number;
    readonly nextAttemptMs: number | null;
  }[];
  readonly position: LogPosition;
  readonly failures: number;
  /** milliseconds for which nothing is sent; 0 for none */
  readonly pauseMs: number;
  /** whether the destination works again: what waits is attempted now */
  readonly hasRecovered: boolean;
  /** whether the lease ends with the round */
  readonly isLast: boolean;
  /** whether there may be parked events from before the round */
  readonly hasParked: boolean;
}

/** The number of events that may wait for a destination. With more, its position stays where it is: the log has the rest. */
export const maxWaiting = 1_000;
/** From so many bytes on no further parked event is read at once; one event may have more. */
const maxBytes = 400_000;
const maxHistory = 1_000;
const maxDeadLetters = 1_000;
const historyDays = 14;
const markDays = 40;
/** How many destinations are moved by one statement. */
const maxRounds = 16;

const later = (ms: string) => `clock_timestamp() + make_interval(secs => ${ms}::float8 / 1000)`;

/** SQL: how far ahead the end of a lease or of a rest of a destination can be. */
const longestLease = (leaseMs: string) => `make_interval(secs => greatest(${leaseMs}::float8, ${maxRestMs}) / 1000)`;
const longestPause = `interval '${maxWaitMs} ms'`;

const claimDue = prepared(`
  update destination set lease = gen_random_uuid(), lease_until = ${later('$2')}
  where integration_id in (
    select integration_id from destination d join integration i on i.id = d.integration_id
    where i.enabled and (lease_until is null or ${isOverSql('lease_until', longestLease('$2'))})
      and (paused_until is null or ${isOverSql('paused_until', longestPause)})
      and (position <> $1 or position_hash is distinct from $5 or exists (
        select from parked_delivery p where p.integration_id = d.integration_id and next_attempt_at <= statement_timestamp()))
      and not d.integration_id = any ($4::int[])
    order by lease_until nulls first limit $3 for update of d skip locked)
  returning integration_id as "integrationId", lease, position, position_hash as hash, failures, batch_end as "batchEnd"`);

const afterClaim = prepared(`
  select generation, array(
    select id from unnest($1::int[]) as claimed (id)
    where exists (select from parked_delivery where integration_id = claimed.id)) as parked
  from log_generation`);

const dueParked = prepared(`
  with due as (
    select id from (
      select distinct on (flag) id, next_attempt_at from parked_delivery
      where integration_id = $1 and next_attempt_at is not null order by flag, id) as first
    where next_attempt_at <= clock_timestamp() order by id limit $2
  ), sized as (
    select id, sum(octet_length(event::text)) over (order by id) - octet_length(event::text) as before
    from parked_delivery where id in (select id from due)
  )
  select id, uid, flag, event::text as event, attempts from parked_delivery
  where id in (select id from sized where before < ${maxBytes}) order by id`);

const waitingFlags = prepared(`
  select flag, count(*)::int as events from parked_delivery
  where integration_id = $1 and next_attempt_at is not null group by flag`);

const statusOf = prepared(`
  select position, disabled_reason as "disabledReason",
    ${timestampSql('case when paused_until > clock_timestamp() then paused_until end')} as "pausedUntil",
    (select count(*)::int from parked_delivery p where p.integration_id = $1 and next_attempt_at is not null) as waiting,
    (select count(*)::int from parked_delivery p where p.integration_id = $1 and next_attempt_at is null) as "deadLetters",
    (select ${timestampSql('min(next_attempt_at)')} from parked_delivery p
     where p.integration_id = $1 and next_attempt_at < 'infinity') as "nextAttemptAt"
  from destination where integration_id = $1`);

const attemptsOf = prepared(`
  select coalesce(json_agg(json_build_object(
    'id', id::text, 'integrationId', integration_id, 'createdAt', ${timestampSql('created_at')}, 'state', state,
    'stateDetails', state_details, 'event', event, 'details', details) order by id desc), '[]')::text as json
  from (select * from attempt where integration_id = $1 order by id desc limit $2 offset $3) as page`);

const dropExpired = prepared(`
  delete from attempt using integration i cross join lateral (
    select a.id from attempt a
    where a.integration_id = i.id and (
        a.id <= (select id from attempt where integration_id = i.id order by id desc offset ${maxHistory} limit 1)
        or a.created_at < clock_timestamp() - interval '${historyDays} days')
      and not exists (select from parked_delivery p where p.integration_id = i.id and p.uid = a.uid)
    order by a.id limit 1000) as old
  where attempt.id = old.id returning 1`);
const dropDeadLetters = prepared(`
  delete from parked_delivery using integration i cross join lateral (
    select p.id from parked_delivery p where p.integration_id = i.id and next_attempt_at is null
    order by p.id desc offset ${maxDeadLetters} limit 1000) as old
  where parked_delivery.id = old.id`);
const dropOldMarks = prepared(`
  delete from log_mark where minute < clock_timestamp() - interval '${markDays} days'
    and id > (select min(id) from log_mark)`);

/** Reads and changes how far destinations are, outside of the writes of users. */
export function deliveryStore(database: Database) {
  const { read, query } = database;
  const commitRounds = async (committed: readonly CommittedRound[], statement: Statement): Promise<boolean[]> => {
    const rows = await query<{ id: number }>(statement, valuesOfRounds(committed));
    const held = new Set(rows.map(({ id }) => id));
    return committed.map(({ claim }) => held.has(claim.integrationId));
  };
  /** Commits rounds of several destinations in one statement, those that end while the one before is executed, except where an integration is locked. */
  let lastCommit: Promise<unknown> = Promise.resolve();
  const rounds = new DataLoader<CommittedRound, boolean>(
    (committed) => {
      const commit = commitRounds(committed, moveUnlocked);
      lastCommit = commit.catch(() => undefined);
      return commit;
    },
    { cache: false, maxBatchSize: maxRounds, batchScheduleFn: (execute) => void lastCommit.then(execute) },
  );
  /** What is wrong with one of them, such as a lock on its integration, is that of no other: it is committed by itself, and none waits for it. */
  const commitRound = async (committed: CommittedRound): Promise<boolean> => {
    if (await rounds.load(committed).catch(() => false)) return true;
    const [isHeld = false] = await commitRounds([committed], moveAlone);
    return isHeld;
  };
  return {
    /** Takes destinations that have something to do and that no process delivers to. @param head the end of the log */
    claim: async (head: LogPosition, leaseMs: number, limit: number, except: readonly number[]): Promise<Claim[]> => {
      const claims = await query<Omit<Claim, 'generation' | 'hasParked'>>(claimDue, [
        head.position,
        leaseMs,
        limit,
        except,
        head.hash,
      ]);
      if (claims.length === 0) return [];
      // Read afterwards: a restore that is noticed from then on ends the leases, and who had them before may have parked events during the claim.
      const { generation, parked } = onlyRow(
        await read<{ generation: number; parked: number[] }>(afterClaim, [
          claims.map(({ integrationId }) => integrationId),
        ]),
      );
      return claims.map((claim) => ({ ...claim, generation, hasParked: parked.includes(claim.integrationId) }));
    },

    /** Ends a lease. @param idleMs milliseconds for which no process delivers */
    release: async ({ integrationId, lease }: Claim, idleMs = 0): Promise<void> => {
      const text = `update destination set lease = null, lease_until = ${later('$3')} where integration_id = $1 and lease = $2`;
      await query(prepared(text), [integrationId, lease, idleMs]);
    },

    /** Parked events that are due, of each flag the first. */
    dueParked: (integrationId: number, limit: number): Promise<ParkedDelivery[]> =>
      read<ParkedDelivery>(dueParked, [integrationId, limit]),

    /** The flags of which events wait, and how many events do. */
    waiting: async (
      integrationId: number,
    ): Promise<{ readonly flags: ReadonlySet<string>; readonly events: number }> => {
      const rows = await read<{ flag: string; events: number }>(waitingFlags, [integrationId]);
      return { flags: new Set(rows.map(({ flag }) => flag)), events: rows.reduce((sum, row) => sum + row.events, 0) };
    },

    /** Decides which events are sent together next, so that they are also after a crash. @returns false if another process has the destination by now */
    planBatch: async ({ integrationId, lease }: Claim, end: number): Promise<boolean> => {
      const text = 'update destination set batch_end = $3 where integration_id = $1 and lease = $2 returning 1';
      return (await query(prepared(text), [integrationId, lease, end])).length > 0;
    },

    /** Commits a round of a destination. @returns false, with nothing stored, if another process has the destination by now */
    commit: (claim: Claim, round: Round): Promise<boolean> =>
      changesParked(round)
        ? database.transaction(async (tx) => {
            const [held] = await tx.query(moveAlone.text, valuesOfRounds([{ claim, round }]));
            if (held === undefined) return false;
            await storeParked(tx, claim.integrationId, round);
            return true;
          })
        : commitRound({ claim, round }),

    /** By integration: how many events wait and are dead letters, and how many attempts failed since one succeeded. */
    countParked: () =>
      read<{
        readonly integrationId: number;
        readonly waiting: number;
        readonly dead: number;
        readonly failures: number;
      }>(
        prepared(`select i.id as "integrationId", count(next_attempt_at)::int as waiting,
        (count(p.id) - count(next_attempt_at))::int as dead,
        coalesce(min(d.failures) filter (where i.enabled), 0)::int as failures
        from integration i left join destination d on d.integration_id = i.id
        left join parked_delivery p on p.integration_id = i.id group by i.id`),
      ),

    /**
     * Deletes some old attempts, except those of events that wait or are dead letters, old marks, and dead letters beyond the newest thousand of
     * an integration. @returns how many attempts
     */
    dropExpired: async (): Promise<number> => {
      await query(dropOldMarks);
      await query(dropDeadLetters);
      return (await query(dropExpired)).length;
    },
  };
}
export type DeliveryStore = ReturnType<typeof deliveryStore>;

interface CommittedRound {
  readonly claim: Claim;
  readonly round: Round;
}

/**
 * SQL: moves destinations whose leases are held, and records the attempts of these. The integrations are locked first, as by those who delete them, in
 * the order of their ids. @returns the ids of these
 */
const moveAndRecord = (ofLocked: '' | 'skip locked'): string => `
  with locked as materialized (
    select id from integration where id = any ($1::int[]) order by id for key share ${ofLocked}
  ), moved as (
    update destination d set position = r.position, position_hash = r.hash, failures = r.failures,
      paused_until = case when r.pause_ms > 0 then ${later('r.pause_ms')} end,
      batch_end = case when d.position = r.position then batch_end end,
      lease = case when not r.is_last then d.lease end,
      lease_until = case when r.is_last then clock_timestamp() else lease_until end
    from unnest($1::int[], $2::uuid[], $3::bigint[], $4::text[], $5::int[], $6::float8[], $7::bool[])
      as r (id, lease, position, hash, failures, pause_ms, is_last) join locked on locked.id = r.id
    where d.integration_id = r.id and d.lease = r.lease
    returning integration_id
  ), recorded as (
    insert into attempt (integration_id, uid, state, state_details, event, details)
    select a.id, uid, state, state_details, event, details
    from unnest($8::int[], $9::uuid[], $10::text[], $11::text[], $12::json[], $13::json[]) with ordinality
      as a (id, uid, state, state_details, event, details, nth) join moved on moved.integration_id = a.id order by nth
  )
  select integration_id as id from moved`;
const moveAlone = prepared(moveAndRecord(''));
const moveUnlocked = prepared(moveAndRecord('skip locked'));

function valuesOfRounds(committed: readonly CommittedRound[]): unknown[] {
  const moves = committed.map(({ claim: { integrationId: id, lease }, round }) => {
    const { position, failures, pauseMs, isLast } = round;
    return { id, lease, ...position, failures, pauseMs, isLast };
  });
  const attempts = committed.flatMap(({ claim: { integrationId: id }, round }) =>
    round.attempts.map((attempt) => ({ id, ...attempt })),
  );
  return [
    ...columnsOf(moves, ['id', 'lease', 'position', 'hash', 'failures', 'pauseMs', 'isLast']),
    ...columnsOf(attempts, ['id', 'uid', 'state', 'stateDetails', 'event', 'details']),
  ];
}

function changesParked({ hasParked, delivered, failedAgain, parked, hasRecovered }: Round): boolean {
  return parked.length > 0 || failedAgain.length > 0 || hasRecovered || (hasParked && delivered.length > 0);
}

async function storeParked(tx: Tx, integrationId: number, round: Round): Promise<void> {
  if (round.hasParked && round.delivered.length > 0)
    await tx.query('delete from parked_delivery where integration_id = $1 and uid = any ($2::uuid[])', [
      integrationId,
      round.delivered,
    ]);
  for (const { id, attempts, nextAttemptMs } of round.failedAgain)
    await tx.query(
      `update parked_delivery set attempts = $2, next_attempt_at = case when $3::float8 is not null then ${later('$3')} end
       where id = $1`,
      [id, attempts, nextAttemptMs],
    );
  for (const event of round.parked) await park(tx, integrationId, event);
  if (round.parked.length > 0 || (round.hasParked && round.delivered.length + round.failedAgain.length > 0))
    await tx.query(promoteFirsts, [integrationId]);
  if (round.hasRecovered) await tx.query(makeDue, [integrationId]);
}

function columnsOf<Row>(rows: readonly Row[], columns: readonly (keyof Row)[]): unknown[][] {
  return columns.map((column) => rows.map((row) => row[column]));
}

/** SQL: makes due what has failed. What waits behind it keeps waiting. */
const makeDue = `
  update parked_delivery set next_attempt_at = clock_timestamp()
  where integration_id = $1 and next_attempt_at < 'infinity'`;

/** SQL: forgets the waiting events after a position, which come again from the log, behind those before them. Dead letters stay. */
const dropWaitingAfter = `
  delete from parked_delivery
  where integration_id = $1 and next_attempt_at is not null and (event ->> 'id')::bigint > $2`;

/** SQL: makes the first event of each flag due whose predecessor is delivered or a dead letter. */
const promoteFirsts = `
  update parked_delivery set next_attempt_at = clock_timestamp()
  where next_attempt_at = 'infinity' and id in (
    select distinct on (flag) id from parked_delivery
    where integration_id = $1 and next_attempt_at is not null order by flag, id)`;

/** Parks an event as the last one of its flag. One that waits already stays where it is; a dead letter begins again. */
async function park(
  tx: Tx,
  integrationId: number,
  { uid, flag, event, attempts, nextAttemptMs }: EventToPark,
): Promise<void> {
  const key = [integrationId, uid];
  await tx.query('delete from parked_delivery where integration_id = $1 and uid = $2 and next_attempt_at is null', key);
  const next =
    nextAttemptMs === 'after others' ? `'infinity'` : `case when $6::float8 is not null then ${later('$6')} end`;
  await tx.query(
    `insert into parked_delivery (integration_id, uid, flag, event, attempts, next_attempt_at)
     values ($1, $2, $3, $4, $5, ${next}) on conflict (integration_id, uid) do nothing`,
    [...key, flag, event, attempts, ...(nextAttemptMs === 'after others' ? [] : [nextAttemptMs])],
  );
}

/** Reads what users see of deliveries. */
export function deliveryReader({ read }: ReadDatabase) {
  return {
    attempts: async (integrationId: number, limit: number, offset: number): Promise<string> => {
      const { json } = onlyRow(await read<{ json: string }>(attemptsOf, [integrationId, limit, offset]));
      return `{"integrationEvents":${json}}`;
    },
    status: async (integrationId: number): Promise<Omit<DeliveryStatus, 'head'>> =>
      onlyRow(await read<Omit<DeliveryStatus, 'head'>>(statusOf, [integrationId])),
  };
}
export type DeliveryReader = ReturnType<typeof deliveryReader>;

/** Changes how far destinations are, in the transactions of users. Whoever delivers meanwhile notices that its lease is gone. */
export function deliveryRepository(tx: Tx) {
  return {
    /** Begins the delivery to a new destination, or to one that was disabled, with the events after a position, and with no others. */
    begin: async (integrationId: number, { position, hash }: LogPosition): Promise<void> => {
      await tx.query(
        `insert into destination (integration_id, position, position_hash) values ($1, $2, $3)
         on conflict (integration_id) do update set position = excluded.position, position_hash = excluded.position_hash,
           batch_end = null, lease = null, lease_until = null, failures = 0, paused_until = null, disabled_reason = null`,
        [integrationId, position, hash],
      );
      await tx.query('delete from parked_delivery where integration_id = $1 and next_attempt_at is not null', [
        integrationId,
      ]);
      await markBeginning(tx, { position, hash });
    },
    /** Goes to a position. What has failed before it is attempted now. */
    replayFrom: async (integrationId: number, { position, hash }: LogPosition): Promise<void> => {
      await tx.query(
        `update destination set position = $2, position_hash = $3, batch_end = null, lease = null, lease_until = null, failures = 0,
           paused_until = null where integration_id = $1`,
        [integrationId, position, hash],
      );
      await tx.query(dropWaitingAfter, [integrationId, position]);
      await tx.query(makeDue, [integrationId]);
    },
    /** Notes why Bunting has disabled a destination. */
    noteDisabled: (integrationId: number, reason: string): Promise<unknown> =>
      tx.query(
        'update destination set disabled_reason = $2, lease = null, lease_until = null where integration_id = $1',
        [integrationId, reason],
      ),
    /** Ends a pause, and makes due what has failed, after the integration was edited. */
    resume: async (integrationId: number): Promise<void> => {
      await tx.query('update destination set failures = 0, paused_until = null where integration_id = $1', [
        integrationId,
      ]);
      await tx.query(makeDue, [integrationId]);
    },
    /** Sends the event of an attempt again as soon as nothing of its flag waits before it, also one that waits for its next attempt. */
    redeliver: async (integrationId: number, attemptId: number, flagOf: (event: object) => string): Promise<void> => {
      const [attempt] = await tx.query<{ uid: string; event: string; parsed: object }>(
        'select uid, event::text as event, event as parsed from attempt where integration_id = $1 and id = $2',
        [integrationId, attemptId],
      );
      if (attempt === undefined) throw notFound(`Could not find an attempt with id ${attemptId} of this addon`);
      const { uid, event, parsed } = attempt;
      await tx.query(
        `update parked_delivery set next_attempt_at = 'infinity'
         where integration_id = $1 and uid = $2 and next_attempt_at is not null`,
        [integrationId, uid],
      );
      await park(tx, integrationId, { uid, flag: flagOf(parsed), event, attempts: 0, nextAttemptMs: 'after others' });
      await tx.query(promoteFirsts, [integrationId]);
    },
  };
}
export type DeliveryRepository = ReturnType<typeof deliveryRepository>;
