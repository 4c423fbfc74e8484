import { systemTraceparent } from '@bunting/bus';
import { type Event, isEqual, systemCaller } from '@bunting/contracts';
import type { Log } from '@bunting/runtime';
import type { LimitFunction } from 'p-limit';
import type { Target } from '../addons/addon.ts';
import type { IntegrationReader } from '../addons/addon-store.ts';
import { type Batching, batchingOf } from '../messages/batch.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { collectBatch } from './collect-batch.ts';
import {
  type Claim,
  type DeliveryStore,
  type EventToPark,
  maxWaiting,
  type ParkedDelivery,
  type Round,
} from './delivery-store.ts';
import type { LogMarkStore } from './log-mark-store.ts';
import { isOtherLog, type LogPage, type LogPosition } from './log-position.ts';
import { followRestoredLog } from './restored-log.ts';
import { flagOf } from './retry.ts';
import { eventsTold, type RightsOf } from './told-events.ts';
import { type Entry, isAttempted, type Result, type Sender, type TimeToSend } from './sender.ts';

/** What turns share. */
export interface TurnContext {
  readonly reader: IntegrationReader;
  readonly store: DeliveryStore;
  readonly marks: LogMarkStore;
  readonly transaction: UnitOfWork;
  readonly sender: Sender;
  /** the hour of mails of a day, in UTC */
  readonly mailHour: number;
  /** milliseconds after which an attempt has ended */
  readonly timeoutMs: number;
  readonly leaseMs: number;
  /** what each batch waits for, which is in memory as a whole */
  readonly batchTurns: LimitFunction;
  readonly readLog: (after: number, limit: number) => Promise<LogPage>;
  readonly rightsOf: RightsOf;
  /** the page after a position, and its successor while it is delivered: destinations that are at the same position share them */
  readonly pages: {
    readonly read: (generation: number, after: LogPosition) => Promise<LogPage>;
    readonly readAhead: (generation: number, page: LogPage) => void;
  };
  /** the JSON text of an event of a page */
  readonly textOf: (event: Event) => string;
  /** the id of the last event of the log; undefined while other destinations wait for a place, so that this one ends with its page */
  readonly newestHead: () => number | undefined;
  readonly isStopped: () => boolean;
  readonly log: Log;
}

/** How many events of the log are read at once. */
export const pageSize = 250;
const maxDueParked = 100;

const nothingWaits = { flags: new Set<string>(), events: 0 };

/** How a turn goes on: in this turn, in another one that may begin at once, or once there is something to do. */
type Next = 'go on' | 'another turn' | 'nothing to do';

/** A round without what the turn knows. */
type RoundToCommit = Omit<Round, 'hasParked'>;

/**
 * Delivers to a destination until it has everything, it fails, or its turn ends.
 * @param claimedAt when the lease began, by `performance.now()`
 * @returns whether there may be more to do at once
 */
export async function deliverInTurn(context: TurnContext, claim: Claim, claimedAt: number): Promise<boolean> {
  const turn = new Turn(context, claim, claimedAt);
  try {
    for (;;) {
      const next = await turn.deliverMore();
      if (next !== 'go on') return next === 'another turn';
    }
  } finally {
    // What has failed releases the destination, which takes nothing from the page before.
    await turn.ended();
  }
}

class Turn {
  readonly #context: TurnContext;
  readonly #claim: Claim;
  readonly #leaseEnd: number;
  /** No attempt begins that might still run when the lease has ended. This also holds after the process was frozen. */
  readonly #time: TimeToSend;
  #isLost = false;
  /** where the destination is after the round that was committed last, or is being committed */
  #at: LogPosition;
  #failures: number;
  #batchEnd: number | null;
  #hasParked: boolean;
  /** the commit of the page before, while the next one is sent */
  #pending: Promise<boolean> | undefined;

  constructor(context: TurnContext, claim: Claim, claimedAt: number) {
    this.#context = context;
    this.#claim = claim;
    this.#leaseEnd = claimedAt + context.leaseMs;
    const beginsUntil = this.#leaseEnd - context.timeoutMs;
    this.#time = {
      beginsUntil,
      mayBegin: () => !context.isStopped() && !this.#isLost && performance.now() < beginsUntil,
    };
    this.#at = { position: claim.position, hash: claim.hash };
    this.#failures = claim.failures;
    this.#batchEnd = claim.batchEnd;
    this.#hasParked = claim.hasParked;
  }

  /** Sends what is due of what has failed, else what follows in the log: a page, or a batch. */
  async deliverMore(): Promise<Next> {
    const { reader, store, mailHour, leaseMs } = this.#context;
    // Others have their turn, so that slow destinations with a backlog hold up none, however many there are.
    if (this.#leaseEnd - performance.now() < leaseMs / 2) {
      await this.#release();
      return 'another turn';
    }
    const { integrationId } = this.#claim;
    // Read for each round, since it may be edited meanwhile.
    const [target, due, waiting] = await Promise.all([
      reader.findTarget(integrationId),
      this.#hasParked ? store.dueParked(integrationId, maxDueParked) : [],
      this.#hasParked ? store.waiting(integrationId) : nothingWaits,
    ]);
    if (target?.enabled !== true || !this.#time.mayBegin()) return this.#release();
    if (due.length > 0) return this.#deliverAgain(target, due);
    const batching = batchingOf(target, mailHour);
    if (batching !== undefined)
      return (await this.#settle())
        ? this.#context.batchTurns(() => this.#deliverBatch(target, batching))
        : 'another turn';
    return waiting.events >= maxWaiting ? this.#release() : this.#deliverPage(target, waiting.flags);
  }

  /** Waits for what is being committed, whatever becomes of it. */
  async ended(): Promise<void> {
    await this.#pending?.catch(() => undefined);
  }

  /** Sends parked events again. */
  async #deliverAgain(target: Target, due: readonly ParkedDelivery[]): Promise<Next> {
    const { sender } = this.#context;
    const entries = due.map((row): Entry => ({ ...row, text: row.event, event: JSON.parse(row.event) as Event }));
    const { results, isGone, sent } = await sender.events(target, entries, this.#failures, this.#time);
    const failedAgain = due.flatMap(({ id, attempts }, index) => {
      const result = results[index];
      if (!isAttempted(result) || result.state !== 'failed') return [];
      return [{ id, attempts: attempts + 1, nextAttemptMs: sender.nextAttempt(attempts + 1, result) }];
    });
    const isLast = isGone || sent.pauseMs > 0 || !results.some(isAttempted);
    return this.#end(target, isGone, { ...sent, parked: [], failedAgain, position: this.#at, isLast });
  }

  async #deliverPage(target: Target, waitingFlags: ReadonlySet<string>): Promise<Next> {
    const { sender, pages, textOf, newestHead, rightsOf } = this.#context;
    const { generation } = this.#claim;
    const page = await pages.read(generation, this.#at);
    if (isOtherLog(page, this.#at)) {
      if (await this.#settle()) await this.#follow();
      return 'another turn';
    }
    if (page.events.length === 0) return this.#goToEnd(page);
    pages.readAhead(generation, page);

    const told = await eventsTold(target, page.events, rightsOf);
    const selected = page.events.flatMap(({ uid }, index) => {
      const event = told[index];
      return event === undefined ? [] : [{ index, uid, flag: flagOf(event), text: textOf(event), event, attempts: 0 }];
    });
    const free = selected.filter(({ flag }) => !waitingFlags.has(flag));
    const { results, isGone, sent } = await sender.events(target, free, this.#failures, this.#time);
    const resultOf = new Map<number, Result>(free.map(({ index }, nth) => [index, results[nth] ?? 'skipped']));
    const upTo = handledUpTo(page.events.length, resultOf);
    const parked = selected.flatMap(({ index, uid, flag, text }): EventToPark[] => {
      const result = resultOf.get(index) ?? 'waits';
      if (index > upTo || (isAttempted(result) && result.state !== 'failed')) return [];
      const event = { uid, flag, event: text };
      return isAttempted(result)
        ? [{ ...event, attempts: 1, nextAttemptMs: sender.nextAttempt(1, result) }]
        : [{ ...event, attempts: 0, nextAttemptMs: 'after others' }];
    });
    const last = page.events[upTo];
    const position = last === undefined ? this.#at : { position: last.event.id, hash: last.hash };
    // With what was committed while the page was sent it goes on, unless others wait for its place.
    const isAtEnd = position.position >= Math.max(page.head, newestHead() ?? page.head);
    const endsEarly = isGone || sent.pauseMs > 0 || upTo < page.events.length - 1;
    const isLast = endsEarly || (isAtEnd && parked.length === 0);
    const round = { ...sent, parked, failedAgain: [], position, isLast };
    // All of the page is accepted, and nothing waits that could hold back what follows: it is sent while this is stored.
    if (!this.#hasParked && parked.length === 0 && !isLast) {
      if (!(await this.#settle())) return 'another turn';
      this.#pending = this.#beginCommit(round);
      this.#pending.catch(() => undefined);
      return 'go on';
    }
    return this.#end(target, isGone, round);
  }

  /** Sends the next batch, if its time is over. */
  async #deliverBatch(target: Target, batching: Batching): Promise<Next> {
    const { sender, store, readLog, rightsOf } = this.#context;
    const planned = this.#batchEnd !== null && this.#batchEnd > this.#at.position ? this.#batchEnd : null;
    const collected = await collectBatch(target, batching, this.#at, planned, {
      // Not the pages that are shared: a batch whose time goes on reads the end of the log again.
      readPage: (after) => readLog(after, pageSize),
      rightsOf,
      mayGoOn: this.#time.mayBegin,
      now: Date.now,
    });
    if (collected === 'turn is over') {
      await this.#release();
      return 'another turn';
    }
    if (collected === 'other log') {
      await this.#follow();
      return 'another turn';
    }
    if ('atEnd' in collected) return this.#goToEnd(collected.atEnd);
    if ('waitMs' in collected) return this.#release(collected.waitMs);
    const { batch } = collected;
    const end = { position: batch.to, hash: batch.hash };
    if (batch.lines.length === 0)
      return this.#commit({ ...nothing, failures: this.#failures, position: end, isLast: false });
    if (!this.#time.mayBegin() || (planned === null && !(await store.planBatch(this.#claim, batch.to))))
      return this.#release();
    this.#batchEnd = batch.to;
    const result = await sender.batch(target, batch, this.#failures, this.#time);
    if (result === undefined) return this.#release();
    const { hasFailed, sent } = result;
    return this.#commit({
      ...sent,
      parked: [],
      failedAgain: [],
      position: hasFailed ? this.#at : end,
      isLast: hasFailed,
    });
  }

  /** Ends a round of events. A destination that is gone is disabled. */
  async #end(target: Target, isGone: boolean, round: RoundToCommit): Promise<Next> {
    const next = await this.#commit(round);
    if (isGone) await this.#disable(target);
    if (next === 'go on') return next;
    return isGone || round.pauseMs > 0 ? 'nothing to do' : 'another turn';
  }

  /** Ends the turn at the end of the log. The position of a replay has no hash until it is there. */
  async #goToEnd({ head, headHash }: Pick<LogPage, 'head' | 'headHash'>): Promise<Next> {
    if (this.#at.hash === headHash) return this.#release();
    const position = { position: head, hash: headHash };
    await this.#commit({ ...nothing, failures: this.#failures, position, isLast: true });
    return 'nothing to do';
  }

  /** Waits for the commit of the page before. @returns whether the lease is still held */
  async #settle(): Promise<boolean> {
    const isHeld = await this.#pending;
    this.#pending = undefined;
    return isHeld !== false;
  }

  /** Begins to commit a round, after the one before. @returns whether the lease was still held */
  #beginCommit(round: RoundToCommit): Promise<boolean> {
    const committing = this.#context.store.commit(this.#claim, { ...round, hasParked: this.#hasParked }).then(
      (isHeld) => {
        this.#isLost ||= !isHeld;
        return isHeld;
      },
      (error: unknown) => {
        this.#isLost = true;
        throw error;
      },
    );
    this.#hasParked ||= round.parked.length > 0;
    this.#at = round.position;
    this.#failures = round.failures;
    return committing;
  }

  async #commit(round: RoundToCommit): Promise<Next> {
    const isHeld = (await this.#settle()) && (await this.#beginCommit(round));
    return isHeld && !round.isLast ? 'go on' : 'nothing to do';
  }

  async #release(idleMs?: number): Promise<Next> {
    if (await this.#settle()) await this.#context.store.release(this.#claim, idleMs);
    return 'nothing to do';
  }

  /** Follows a log that was restored. This destination is moved as well, and is claimed again. */
  #follow(): Promise<void> {
    return followRestoredLog(this.#context, this.#claim.generation, this.#at.position);
  }

  /** Disables an integration whose destination has responded that it is gone, unless it was edited meanwhile. */
  async #disable({ id, parameters: attempted, setUpBy }: Target): Promise<void> {
    const context = { traceparent: systemTraceparent(), caller: systemCaller, now: new Date() };
    await this.#context.transaction(context, async (tx) => {
      const locked = await tx.integrations.lock(id);
      if (locked === undefined || !locked.addon.enabled || !isEqual(locked.parameters(), attempted)) return;
      const disabled = { ...locked.addon, parameters: locked.parameters(), enabled: false };
      await tx.integrations.save(locked.addon, disabled, setUpBy);
      await tx.deliveries.noteDisabled(id, 'The destination has responded 410: it wants no more events.');
    });
  }
}

const nothing = {
  attempts: [],
  delivered: [],
  parked: [],
  failedAgain: [],
  pauseMs: 0,
  hasRecovered: false,
} as const;

/**
 * The index of the last event of a page up to which all are handled. Where the round ended early, those before the last attempted one that
 * had no turn are parked, so that none is sent a second time for that reason.
 */
function handledUpTo(length: number, resultOf: ReadonlyMap<number, Result>): number {
  const entries = [...resultOf];
  const firstSkipped = Math.min(length, ...entries.flatMap(([index, result]) => (result === 'skipped' ? [index] : [])));
  const lastAttempted = Math.max(-1, ...entries.flatMap(([index, result]) => (isAttempted(result) ? [index] : [])));
  return Math.max(firstSkipped - 1, firstSkipped === length ? length - 1 : lastAttempted);
}
