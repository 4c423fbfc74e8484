import { type Bus, systemContext } from '@bunting/bus';
import { ListStateVersions, type ReadableStateEntity, ReadStates, Refusal } from '@bunting/contracts';
import type { Projection } from '@bunting/outbox';
import { type Log, type Loop, startLoop } from '@bunting/runtime';
import { setTimeout } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import { call } from '../calls.ts';
import type { DocumentStore } from './document-store.ts';
import {
  commonRangeOf,
  compareIds,
  differingIds,
  documentFormat,
  isUpToDate,
  type SourceState,
  type StateVersion,
} from './feature-document.ts';

type ReadPage<T> = (entity: ReadableStateEntity, after: string, limit: number) => Promise<readonly T[]>;

/** Reads the current states of the features service after an id, or only their versions, in the order of the bytes of their ids. */
interface StateSource {
  readonly states: ReadPage<SourceState>;
  readonly versions: ReadPage<StateVersion>;
}

interface StateStores {
  readonly source: StateSource;
  readonly stored: Pick<
    DocumentStore,
    'states' | 'versions' | 'replace' | 'addMissingWords' | 'removeUnusedWords' | 'count'
  >;
  /** the projection that applies the states of the features service to the stored ones */
  readonly states: Pick<Projection, 'catchUp'>;
}

/** The outcome of a reconciliation. */
interface ReconciliationResult {
  /** whether the projection was too stale to be compared */
  readonly isBehind: boolean;
  /** ids of repaired features and segments */
  readonly repaired: readonly string[];
  /** the number of features that were compared */
  readonly compared: number;
  /** the name of the last of these features; empty if they included the last feature of all */
  readonly comparedUpTo: string;
}

const entities: readonly ReadableStateEntity[] = ['segment', 'feature'];
/** The number of states, and of versions alone, that are read per call. */
const pageSize = 200;
const versionsPageSize = 10_000;
/** How many pages of features a reconciliation compares whole, in turn, and after how many repairs it leaves the rest to the next one. */
const pagesPerRun = 5;
const maxRepairs = 10_000;
/** How many words a reconciliation looks for in features, in turn. */
const wordsPerRun = 1_000;

const readTimeoutMs = 10_000;
const catchUpTimeoutMs = 5_000;
/** The number of attempts of a reindex to catch up before it fails, and the pause between two of them. */
const maxAttempts = 12;
const attemptPauseMs = 1_000;

const maxLoggedIds = 5;
/** How often each process tries to claim the next reconciliation. */
const claimIntervalMs = 10_000;

/** The projection was too stale for a comparison. */
class StaleProjectionError extends Refusal {
  constructor() {
    super('ServiceUnavailable', `search has not applied the latest changes of features within ${catchUpTimeoutMs} ms`);
  }
}

/** Compares stored states with the features service, and repairs those that have drifted. */
export function reconciler({ source, stored, states }: StateStores) {
  /** The id after which the next reconciliation compares segments. */
  let comparedSegments = '';
  /** The word after which the next reconciliation looks for words that no feature has. */
  let checkedWords = '';

  async function requireCaughtUp(): Promise<void> {
    if ((await states.catchUp(catchUpTimeoutMs)) > 0) throw new StaleProjectionError();
  }

  /**
   * Compares the stored states after an id with those of the source, and repairs those that differ. The stored states are read first, then
   * the source, and then the projection applies all changes up to that read. So a stored state that is unchanged since the first read and
   * differs from the source has drifted.
   * @param force whether to rewrite states that do not differ, too
   */
  async function repairPage(entity: ReadableStateEntity, after: string, { force }: { readonly force: boolean }) {
    const storedPage = await stored.states(entity, after, pageSize);
    const sourcePage = await source.states(entity, after, pageSize);
    await requireCaughtUp();
    const { ids, end } = commonRangeOf([sourcePage, storedPage], pageSize);
    const [storedStates, sourceStates] = [byId(storedPage), byId(sourcePage)];
    const repaired: string[] = [];
    for (const id of ids) {
      const [expected, current] = [storedStates.get(id), sourceStates.get(id)];
      const isCorrect = isUpToDate(entity, expected, current);
      if (isCorrect && !(force && current !== undefined)) continue;
      if ((await stored.replace(entity, id, current, expected)) && !isCorrect) repaired.push(id);
    }
    return { repaired, compared: ids.filter((id) => sourceStates.has(id)).length, end };
  }

  /** Rewrites a page. It is retried while the projection is stale, since a large import takes longer than one attempt to catch up. */
  async function rewritePage(entity: ReadableStateEntity, after: string, heartbeat: () => Promise<void>) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await repairPage(entity, after, { force: true });
      } catch (error) {
        if (!(error instanceof StaleProjectionError) || attempt === maxAttempts) throw error;
        await heartbeat();
        await setTimeout(attemptPauseMs);
      }
    }
  }

  /** Repairs the pages with states whose versions differ. Returns the ids of what it repaired. */
  async function repairByVersion(entity: ReadableStateEntity): Promise<string[]> {
    const repaired: string[] = [];
    let repairedUpTo = '';
    for (let start: string | undefined = ''; start !== undefined;) {
      const pages = [
        await stored.versions(entity, start, versionsPageSize),
        await source.versions(entity, start, versionsPageSize),
      ] as const;
      const { differing, end }: ReturnType<typeof differingIds> = differingIds(pages, start, versionsPageSize);
      for (const { id, after } of differing) {
        if (repaired.length >= maxRepairs) return repaired;
        if (compareIds(id, repairedUpTo) <= 0) continue;
        const page = await repairPage(entity, after, { force: false });
        repaired.push(...page.repaired);
        if (page.end === undefined) return repaired;
        repairedUpTo = page.end;
      }
      start = end;
    }
    return repaired;
  }

  return {
    /** Compares the versions of all states, and whole some segments, and some features after a name. */
    reconcile: async (after: string): Promise<ReconciliationResult> => {
      const repaired: string[] = [];
      let [compared, comparedUpTo] = [0, after];
      try {
        await requireCaughtUp();
        for (const entity of entities) repaired.push(...(await repairByVersion(entity)));
        const segments = await repairPage('segment', comparedSegments, { force: false });
        comparedSegments = segments.end ?? '';
        repaired.push(...segments.repaired);
        for (let page = 0; page < pagesPerRun; page++) {
          const features = await repairPage('feature', comparedUpTo, { force: false });
          repaired.push(...features.repaired);
          compared += features.compared;
          comparedUpTo = features.end ?? '';
          if (comparedUpTo === '') break;
        }
        await stored.addMissingWords(after, comparedUpTo);
        checkedWords = await stored.removeUnusedWords(checkedWords, wordsPerRun);
        return { isBehind: false, repaired, compared, comparedUpTo };
      } catch (error) {
        if (!(error instanceof StaleProjectionError)) throw error;
        return { isBehind: true, repaired, compared, comparedUpTo };
      }
    },

    /** Rewrites all states in place, and removes those that the features service does not have. */
    rebuild: async (progress: (done: number, all: number) => Promise<void>): Promise<void> => {
      const expected = await stored.count();
      let done = 0;
      const reportProgress = () => progress(done, Math.max(done, expected));
      for (const entity of entities) {
        for (let after: string | undefined = ''; after !== undefined;) {
          const page: Awaited<ReturnType<typeof repairPage>> = await rewritePage(entity, after, reportProgress);
          done += page.compared;
          await reportProgress();
          after = page.end;
        }
      }
      await progress(done, done);
    },
  };
}

function byId<T extends { readonly id: string }>(list: readonly T[]): ReadonlyMap<string, T> {
  return new Map(list.map((item) => [item.id, item]));
}

/** The current states in the features service. */
export function stateSource(bus: Bus): StateSource {
  return {
    states: async (entity, after, limit) =>
      (await call(bus, ReadStates, { body: { entity, after, limit } }, systemContext(readTimeoutMs))).states,
    versions: async (entity, after, limit) =>
      (await call(bus, ListStateVersions, { body: { entity, after, limit } }, systemContext(readTimeoutMs))).versions,
  };
}

interface ReconciliationOptions {
  readonly reconcile: (after: string) => Promise<ReconciliationResult>;
  /** rewrites all documents */
  readonly rebuild: (progress: () => Promise<void>) => Promise<void>;
  readonly stored: Pick<DocumentStore, 'claim' | 'saveComparedUpTo' | 'format' | 'saveFormat'>;
  /** milliseconds between comparisons; 0 for none */
  readonly intervalMs: number;
  readonly metrics: Registry;
  readonly log: Log;
}

/**
 * Reconciles the documents with the features service periodically, in one process of several at a time, and first writes those of an earlier
 * format anew. A process that ends meanwhile leaves that to the next one.
 */
export function startReconciliation(options: ReconciliationOptions): Pick<Loop, 'stop'> {
  const { reconcile, rebuild, stored, intervalMs, log } = options;
  const record = reconciliationMetrics(options.metrics);

  async function reconcileIfDue(): Promise<void> {
    const after = await stored.claim(intervalMs);
    if (after === undefined) return;
    if ((await stored.format()) < documentFormat) {
      await rebuild(() => Promise.resolve());
      await stored.saveFormat(documentFormat);
    }
    const result = await reconcile(after);
    await stored.saveComparedUpTo(result.comparedUpTo);
    record(result);
    const { repaired } = result;
    if (repaired.length > 0) {
      const more = repaired.length > maxLoggedIds ? ` and ${repaired.length - maxLoggedIds} more` : '';
      log.warn(
        `Repaired ${repaired.length} search documents that had drifted from features: ${repaired.slice(0, maxLoggedIds).join(', ')}${more}. No action is needed unless this repeats.`,
      );
    }
  }

  if (intervalMs === 0) return { stop: () => Promise.resolve() };
  return startLoop({
    name: 'The reconciliation of search documents with the features service',
    run: reconcileIfDue,
    intervalMs: Math.min(intervalMs, claimIntervalMs),
    log,
  });
}

/** Registers the metrics of reconciliation. Returns the callback that records a run. */
function reconciliationMetrics(registry: Registry): (result: ReconciliationResult) => void {
  const registers = [registry];
  const runs = new Counter({
    name: 'bunting_search_reconciliations_total',
    help: 'reconciliations of search documents with the features service, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const repaired = new Counter({
    name: 'bunting_search_repaired_total',
    help: 'search documents of features and segments that had drifted and were repaired',
    registers,
  });
  const compared = new Counter({
    name: 'bunting_search_compared_total',
    help: 'features whose whole contents were compared',
    registers,
  });
  const last = new Gauge({
    name: 'bunting_search_reconciled_timestamp_seconds',
    help: 'time of the last complete reconciliation',
    registers,
  });
  return (result) => {
    runs.inc({ outcome: result.isBehind ? 'behind' : result.repaired.length > 0 ? 'repaired' : 'same' });
    repaired.inc(result.repaired.length);
    compared.inc(result.compared);
    if (!result.isBehind) last.setToCurrentTime();
  };
}
