import { AsyncResource } from 'node:async_hooks';
import { Refusal } from '@bunting/contracts';
import { isDataError, LazyTx, type Tx } from '@bunting/database';
import type { Emitter, Outbox } from '@bunting/outbox';
import {
  type FeatureLock,
  type FeatureRow,
  lockFreeFeatures,
  locksOneFeature,
  referencesOfLock,
} from '../features/feature-store.ts';

/** How many edits share a transaction at most, and how many of their transactions run at a time: edits that come meanwhile are the next group. */
const maxGroupSize = 16;
const maxRunningGroups = 2;
/** An edit with less time left runs alone: the deadline of a transaction is the earliest of its edits. */
const minTimeLeftMs = 1_000;
/** An edit that saves more, in characters, or refers to more objects runs alone: the others would wait for it. */
const maxSavedLength = 64 * 1024;
const maxReferences = 200;

/** An edit of one feature: a job that locks it before all else, and runs in a transaction of its own or with others. */
export interface Edit<T = unknown> {
  readonly traceparent: string;
  readonly deadline: Date;
  readonly signal?: AbortSignal | undefined;
  /** may run several times */
  readonly run: (tx: Tx, outbox: Outbox) => Promise<T>;
}

/** What came of an edit in a transaction with others; undefined where nothing of it is stored, and it has to run alone. */
type Outcome = { readonly result: unknown } | { readonly refusal: Refusal } | undefined;

/** Runs a job in a transaction, until its limits are exceeded. */
type Work = <T>(limits: Omit<Edit, 'run'>, job: (tx: Tx, outbox: Outbox) => Promise<T>) => Promise<T>;

interface WaitingEdit {
  readonly edit: Edit;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
  /** continues the trace of the request */
  readonly inItsContext: <T>(job: () => T) => T;
}

/**
 * Commits edits that wait for a transaction together: most of what a transaction costs does not depend on how many edits it has. One that
 * is refused is left out. One that would have to wait for a lock, or needs more than its feature, runs alone afterwards, so that none waits
 * for another; all of them do when their transaction was rolled back. After an unknown outcome all get its error, and none is repeated.
 * @returns a function that runs an edit, and returns its result after the commit
 */
export function groupCommit(work: Work): <T>(edit: Edit<T>) => Promise<T> {
  const waiting: WaitingEdit[] = [];
  let running = 0;

  const settleAlone = ({ edit, resolve, reject, inItsContext }: WaitingEdit): void =>
    void inItsContext(() => work(edit, edit.run)).then((result) => resolve(result as never), reject);

  /** @param release lets the next group run: what may wait for others must not hold it up */
  const runFirst = async (first: WaitingEdit, release: () => void): Promise<void> => {
    const { edit, resolve, reject, inItsContext } = first;
    try {
      resolve(
        (await inItsContext(() =>
          work(edit, (tx, outbox) => edit.run(txWithoutWaiting(tx, release), outbox)),
        )) as never,
      );
    } catch (error) {
      if (error instanceof NotTogether) settleAlone(first);
      else reject(error);
    }
  };

  const runGroup = async (first: WaitingEdit, group: readonly WaitingEdit[]): Promise<void> => {
    const edits = group.map(({ edit }) => edit);
    const deadline = new Date(Math.min(...edits.map((edit) => edit.deadline.getTime())));
    const { traceparent } = first.edit;
    /** what was decided, once all is ready to be committed */
    let outcomes: readonly Outcome[] | undefined;
    /** that of a commit that may have succeeded */
    let unknown: { readonly error: unknown } | undefined;
    try {
      // In the trace of the first edit, since a transaction has one. A group does not end with the connection of one of its callers.
      await first.inItsContext(() =>
        work({ traceparent, deadline }, async (tx, outbox) => {
          outcomes = undefined;
          outcomes = await runTogether(tx, outbox, edits);
        }),
      );
    } catch (error) {
      const isRolledBack = isDataError(error) && (error instanceof Refusal || hasSqlState(error));
      if (isRolledBack) outcomes = outcomes?.map((one) => (one !== undefined && 'refusal' in one ? one : undefined));
      else unknown = { error };
    }
    for (const [nth, each] of group.entries()) {
      const outcome = outcomes?.[nth];
      if (outcome === undefined) settleAlone(each);
      else if ('refusal' in outcome) each.reject(outcome.refusal);
      else if (unknown !== undefined) each.reject(unknown.error);
      else each.resolve(outcome.result as never);
    }
  };

  const dispatch = (): void => {
    while (running < maxRunningGroups && waiting.length > 0) {
      const group = waiting.splice(0, maxGroupSize).filter((each) => {
        const { deadline, signal } = each.edit;
        if (signal?.aborted !== true && deadline.getTime() - Date.now() >= minTimeLeftMs) return true;
        settleAlone(each);
        return false;
      });
      const [first] = group;
      if (first === undefined) continue;
      running++;
      let isReleased = false;
      const release = (): void => {
        if (isReleased) return;
        isReleased = true;
        running--;
        setImmediate(dispatch);
      };
      void (group.length === 1 ? runFirst(first, release) : runGroup(first, group)).finally(release);
    }
  };

  return <T>(edit: Edit<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ edit, resolve, reject, inItsContext: inCurrentContext() });
      setImmediate(dispatch);
    });
}

/**
 * A function that runs a job in the trace of its caller. Not `AsyncLocalStorage.snapshot()`, whose function has an accessor of its own: V8 keeps
 * what that refers to in memory until the next major garbage collection.
 */
function inCurrentContext(): <T>(job: () => T) => T {
  const resource = new AsyncResource('Edit');
  return (job) => resource.runInAsyncScope(job);
}

/** Whether PostgreSQL has reported an error, after which it has committed nothing. */
function hasSqlState(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(String((error as { readonly code?: unknown }).code));
}

/** Thrown into an edit that cannot share the transaction, or would have to wait for its feature. */
class NotTogether extends Error {}

/** The transaction of one edit, which waits for no feature that another has locked. @param onMore called before any other statement */
function txWithoutWaiting(tx: Tx, onMore: () => void): Tx {
  const entityManager = () => {
    onMore();
    return tx.em;
  };
  return new LazyTx(entityManager, {
    query: async <Row>(text: string, values: readonly unknown[] = []) => {
      if (!locksOneFeature(text)) {
        onMore();
        return tx.query<Row>(text, values);
      }
      const [row] = await lockFreeFeatures(tx, [{ text, values }]);
      if (row === undefined) throw new NotTogether();
      return [row as Row];
    },
    send: (text, values) => tx.send(text, values),
  });
}

interface WaitingLock extends FeatureLock {
  readonly resolve: (rows: readonly FeatureRow[]) => void;
  readonly reject: (error: NotTogether) => void;
}

/** Runs edits in one transaction: one statement locks their features, and one saves those whose changes are in the same columns. */
async function runTogether(tx: Tx, outbox: Outbox, edits: readonly Edit[]): Promise<readonly Outcome[]> {
  const locks: WaitingLock[] = [];
  let hasLocked = false;
  const refuse = (): never => {
    throw new NotTogether();
  };
  const txOfEdits: Tx = new LazyTx(refuse, {
    query: <Row>(text: string, values: readonly unknown[] = []) =>
      new Promise<Row[]>((resolve, reject) => {
        if (hasLocked || !locksOneFeature(text) || referencesOfLock({ text, values }) > maxReferences)
          return reject(new NotTogether());
        locks.push({ text, values, resolve: resolve as unknown as WaitingLock['resolve'], reject });
      }),
    send: refuse,
  });
  const running = edits.map((edit) => runCollecting(txOfEdits, edit));
  hasLocked = true;
  const rows = locks.length === 0 ? [] : await lockFreeFeatures(tx, locks);
  for (const [nth, { resolve, reject }] of locks.entries()) {
    const row = rows[nth];
    if (row === undefined) reject(new NotTogether());
    else resolve([row]);
  }
  const ran = await Promise.all(running);
  const done = ran.filter((edit) => edit !== undefined && 'result' in edit);
  const saves = Map.groupBy(
    done.flatMap((edit) => edit.saves),
    ({ text }) => text,
  );
  for (const [text, ofText] of saves)
    outbox.send(text, [`[${ofText.map(({ rows: list }) => list.slice(1, -1)).join(',')}]`]);
  for (const { traceparent, messages } of done) {
    const emitter = outbox.ofRequest(traceparent);
    for (const emit of messages) emit(emitter);
  }
  return ran;
}

/** A statement that saves a list of rows, as JSON. */
interface Save {
  readonly text: string;
  readonly rows: string;
}

/** What an edit has sent and emitted. */
interface Collected {
  readonly result: unknown;
  readonly traceparent: string;
  readonly saves: readonly Save[];
  readonly messages: readonly ((emitter: Emitter) => void)[];
}

/** Runs an edit without sending anything of it. */
async function runCollecting(
  tx: Tx,
  { traceparent, signal, run }: Edit,
): Promise<Collected | { readonly refusal: Refusal } | undefined> {
  const messages: ((emitter: Emitter) => void)[] = [];
  const saves: Save[] = [];
  const emitter: Emitter = {
    emit: (events) => void messages.push((to) => to.emit(events)),
    emitState: (state) => void messages.push((to) => to.emitState(state)),
    emitChange: (entity, id) => void messages.push((to) => to.emitChange(entity, id)),
    emitDelivery: (state) => void messages.push((to) => to.emitDelivery(state)),
  };
  const send = (text: string, [rows, ...others]: readonly unknown[]): void => {
    if (typeof rows !== 'string' || rows.length > maxSavedLength || others.length > 0) throw new NotTogether();
    saves.push({ text, rows });
  };
  try {
    const result = await run(tx, { ...emitter, ofRequest: () => emitter, send });
    return signal?.aborted === true ? undefined : { result, traceparent, saves, messages };
  } catch (error) {
    // The refusal of a feature that is locked is that of the edit. Alone, it finds the reason of others.
    return error instanceof Refusal ? { refusal: error } : undefined;
  }
}
