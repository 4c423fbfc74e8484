import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  afterPosition,
  type ChangedFeature,
  type Cursor,
  type IndexFeed,
  type Keeping,
  type Standing,
} from '../persistence/index-feed.ts';
import { askIndex } from './asked-index.ts';
import { idOf, nameOf } from './encoding.ts';
import { type IndexDocument, indexDocumentOf, type Mark, markOf } from './index-document.ts';
import { settingsPrint } from './index-settings.ts';
import type { Circuit } from './circuit.ts';
import type { Server } from './server.ts';
import { Unanswered } from './unanswered.ts';
import type { Watch } from './watch.ts';

export interface IndexKeeperNeeds {
  readonly uid: string;
  readonly server: Server;
  readonly feed: IndexFeed;
  readonly watch: Watch;
  readonly bell: { ring(): void; wait(atMostMs: number): Promise<void> };
  readonly circuit: Pick<Circuit, 'isOpen'>;
  /** milliseconds between polls of the feed, when no wake-up signal comes */
  readonly intervalMs: number;
  /** milliseconds between checks of an index that works and has nothing to follow */
  readonly checkIntervalMs: number;
  readonly warn: (message: string) => void;
  readonly tell: (done: IndexWork) => void;
}

/** What was done for the index. */
export type IndexWork =
  | { readonly kind: 'followed'; readonly documents: number }
  | { readonly kind: 'built'; readonly because: string; readonly documents: number; readonly durationMs: number }
  | { readonly kind: 'building'; readonly done: number; readonly all: number }
  | { readonly kind: 'audited'; readonly documents: number };

export interface IndexKeeper {
  stop(): Promise<void>;
}

const batch = 1_000;
/** How many tasks may wait for the server before it is given another. */
const mostWaiting = 4;
const audited = 1_000;
const settingsEvery = 10;
/** Between two rounds, between two tries, and between an index that is built and the next one. */
const leastPauseMs = 50;
const longestRetryMs = 5_000;
const shortestPauseMs = 1_000;
const longestPauseMs = 300_000;
/** An index is not built all the time: what is wrong with it time and again is not mended by that. */
const pauseAfterBuild = 10;
/** After so many failures to follow it, an index is built anew. */
const mostFailures = 3;

class Stopped extends Error {}

const isAnswer =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof Unanswered && error.code === code;
const isAbsence = isAnswer('index_not_found');
const isPresence = isAnswer('index_already_exists');

/** Why an index must be built anew; undefined when it is what it should be. */
const reasonToBuild = ({ epoch, position, index }: Standing, isMine: boolean): string | undefined => {
  if (index === null || index.generation === null) return 'there is none yet';
  if (index.trouble !== null) return index.trouble;
  if (index.changing && !isMine) return 'who was changing it is gone';
  if (index.epoch !== epoch || index.indexed > position) return 'it followed another table';
  return undefined;
};

type Kept = ChangedFeature & { readonly found: NonNullable<ChangedFeature['found']> };
const isKept = (change: ChangedFeature): change is Kept => change.found !== null;

/**
 * Keeps the index as the table is: follows its changes in their order, looks whether it is still what it should be, and
 * builds it anew beside the old one when it is not. Of several processes one does, and another takes over when it ends.
 */
export const startIndexKeeper = (needs: IndexKeeperNeeds): IndexKeeper => {
  const { uid, server, feed, watch, circuit, bell, intervalMs, checkIntervalMs, warn, tell } = needs;
  const next = `${uid}_next`;
  let stopped = false;
  let keeping: Keeping | undefined;
  /** whether it was this process that began to change the index */
  let isMine = false;
  let failures = 0;
  let failedTasks = 0;
  let audits = 0;
  let auditedUpTo = 0;
  let auditedAt = Number.NEGATIVE_INFINITY;
  let probedAt = Number.NEGATIVE_INFINITY;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let warned: string | undefined;

  const complain = (message: string): void => {
    if (message !== warned) warn(message);
    warned = message;
  };

  const done = async (task: number): Promise<void> => {
    for (let pause = 5; ; pause = Math.min(100, pause * 2)) {
      if (stopped) throw new Stopped();
      const outcome = await server.outcomeOf(task);
      if (outcome === 'succeeded') return;
      if (outcome !== 'pending')
        throw new Unanswered('refused', `a task of it failed: ${outcome.failed}`, outcome.failed);
      await sleep(pause);
    }
  };

  const doneUnless = async (task: Promise<number>, isFine: (error: unknown) => boolean): Promise<void> => {
    try {
      await done(await task);
    } catch (error) {
      if (!isFine(error)) throw error;
    }
  };

  /** Brings what follows the cursor into an index, in order, and then the mark that says so. */
  const bring = async (
    into: string,
    generation: string,
    epoch: string,
    from: Cursor,
    brought: (documents: number) => void,
  ): Promise<{ position: number; task: number }> => {
    const waiting: number[] = [];
    let cursor = from;
    for (;;) {
      if (stopped) throw new Stopped();
      const page = await feed.after(cursor, batch);
      if (page.epoch !== epoch) throw new Error('the table was emptied meanwhile');
      const gone = page.changes.filter((change) => !isKept(change)).map(({ name }) => idOf(name));
      if (gone.length > 0) waiting.push(await server.remove(into, gone));
      const documents: (IndexDocument | Mark)[] = page.changes.filter(isKept).map(indexDocumentOf);
      const last = page.changes.at(-1);
      const isWhole = page.changes.length < batch || last === undefined;
      const put = await server.put(into, isWhole ? [...documents, markOf(generation, page.position)] : documents);
      waiting.push(put);
      brought(documents.length);
      while (waiting.length > (isWhole ? 0 : mostWaiting)) await done(waiting.shift() as number);
      if (isWhole) return { position: page.position, task: put };
      cursor = last;
    }
  };

  const follow = async (keeper: Keeping, { epoch, index }: Standing): Promise<void> => {
    if (index === null || index.generation === null) return;
    isMine = true;
    await keeper.record({ changing: true });
    let documents = 0;
    const count = (more: number) => void (documents += more);
    const following = bring(uid, index.generation, epoch, afterPosition(index.indexed), count);
    const { position, task } = await following.catch((error: unknown) => {
      if (error instanceof Unanswered && error.reason === 'refused') failedTasks++;
      throw error;
    });
    failedTasks = 0;
    await keeper.record({ indexed: position, tasks: [task], changing: false });
    isMine = false;
    tell({ kind: 'followed', documents });
  };

  const build = async (keeper: Keeping, { epoch, features }: Standing, because: string): Promise<void> => {
    const began = performance.now();
    const generation = randomUUID();
    await doneUnless(server.drop(next), isAbsence);
    await done(await server.create(next));
    await done(await server.configure(next));
    const settings = settingsPrint(await server.settings(next));
    let documents = 0;
    const { position, task } = await bring(next, generation, epoch, afterPosition(0), (more) => {
      documents += more;
      tell({ kind: 'building', done: documents, all: features });
    });
    // There must be an index to change places with. From here on nobody trusts what bears the name until it is written down.
    await doneUnless(server.create(uid), isPresence);
    isMine = true;
    await keeper.record({ changing: true });
    const swap = await server.swap(uid, next);
    await done(swap);
    await keeper.record({
      ...{ epoch, generation, indexed: position, tasks: [task, swap], settings },
      ...{ changing: false, trouble: null },
    });
    isMine = false;
    failedTasks = 0;
    auditedUpTo = 0;
    const durationMs = performance.now() - began;
    pausedUntil = performance.now() + Math.min(longestPauseMs, Math.max(shortestPauseMs, pauseAfterBuild * durationMs));
    tell({ kind: 'built', because, documents, durationMs });
    await doneUnless(server.drop(next), isAbsence);
  };

  /** Compares some documents with what they should be: in time, all of them. */
  const audit = (): Promise<number> =>
    watch.examine(async (level) => {
      const documents = await server.documents(uid, auditedUpTo, audited);
      const names = documents.map((document) => nameOf((document as { id?: unknown } | null)?.id));
      const expected = new Map<string, unknown>();
      for (const change of await feed.named(names.filter((name) => name !== undefined)))
        if (isKept(change)) expected.set(change.name, indexDocumentOf(change));
      for (const [at, document] of documents.entries()) {
        const name = names[at];
        const wanted = name === undefined ? markOf(level.generation, level.position) : expected.get(name);
        if (!isDeepStrictEqual(document, wanted)) throw new Unanswered('altered', 'a document of it was altered');
      }
      auditedUpTo = documents.length < audited ? 0 : auditedUpTo + documents.length;
      return documents.length;
    });

  const checkSettings = (built: string | null): Promise<void> =>
    watch.examine(async () => {
      if (settingsPrint(await server.settings(uid)) !== built)
        throw new Unanswered('altered', 'its settings are not those that it was built with');
    });

  /** Probes the server: in each round while it fails, and otherwise at the interval of checks. */
  const probe = async (): Promise<void> => {
    if (!circuit.isOpen && performance.now() - probedAt < checkIntervalMs) return;
    probedAt = Number.NEGATIVE_INFINITY;
    await watch.probe((level) => askIndex(needs, level, []));
    probedAt = performance.now();
  };

  const keepUp = async (keeper: Keeping): Promise<void> => {
    const standing = await feed.standing(uid);
    const because =
      reasonToBuild(standing, isMine) ?? (failedTasks >= mostFailures ? 'it cannot be followed' : undefined);
    if (because !== undefined) {
      if (performance.now() < pausedUntil) return;
      if (standing.index?.generation != null) complain(`The index in Meilisearch is built anew: ${because}.`);
      return build(keeper, standing, because);
    }
    const { index, position } = standing;
    if (index !== null && (index.indexed < position || index.changing)) return follow(keeper, standing);
    if (performance.now() - auditedAt < checkIntervalMs) return;
    auditedAt = performance.now();
    if (audits++ % settingsEvery === 0) await checkSettings(index?.settings ?? null);
    tell({ kind: 'audited', documents: await audit() });
  };

  const letGo = (): void => {
    keeping?.release();
    keeping = undefined;
    isMine = false;
  };

  const round = async (): Promise<void> => {
    if (keeping?.lost === true) letGo();
    try {
      // Who does not keep the index asks it as well: whether the server answers is each process's own concern.
      await probe().catch((error: unknown) => {
        if (!(error instanceof Unanswered)) throw error;
      });
      keeping ??= await feed.keep(uid);
      if (keeping !== undefined) await keepUp(keeping);
      failures = 0;
      warned = undefined;
    } catch (error) {
      if (error instanceof Stopped) return;
      failures++;
      const isPassing = error instanceof Unanswered && (error.reason === 'behind' || error.reason === 'altered');
      if (!isPassing) complain(`Meilisearch cannot be kept up to date now: ${(error as Error).message}.`);
      if (!(error instanceof Unanswered)) letGo();
    }
  };

  const running = (async () => {
    while (!stopped) {
      await round();
      const pause = failures === 0 ? intervalMs : Math.min(longestRetryMs, intervalMs * 2 ** Math.min(failures, 8));
      if (!stopped) await sleep(leastPauseMs);
      if (!stopped) await bell.wait(pause);
    }
    letGo();
  })();

  return {
    stop: async () => {
      stopped = true;
      bell.ring();
      await running;
    },
  };
};
