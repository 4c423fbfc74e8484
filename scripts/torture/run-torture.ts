import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@bunting/testing';
import { type Cluster, type ReplicaCounts, startCluster } from './cluster.ts';
import { type Fault, faults } from './faults.ts';
import { startFeedFollower } from './feed-follower.ts';
import { type SdkClients, sdkClientSettings, startSdkClients } from './sdk-clients.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { loggedErrors, type Verification, verifyTortureRun } from './verify-torture-run.ts';
import { openLedger, readLedger, runWriter } from './writer.ts';

/** Waits until every gateway responds without error or staleness. @returns milliseconds */
async function waitUntilRecovered({ urls, token }: Cluster, timeoutMs: number): Promise<number> {
  const startedAt = performance.now();
  const requireFresh = async (url: string, init: RequestInit = {}): Promise<void> => {
    const headers = { authorization: token, 'content-type': 'application/json' };
    const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(15_000) });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url} returned ${response.status}.`);
    const stale = response.headers.get('bunting-stale');
    if (stale !== null) throw new Error(`${url} is stale by ${stale} ms.`);
  };
  for (const url of urls) {
    await eventually(
      async () => {
        await requireFresh(`${url}/api/admin/projects/default/features`);
        await requireFresh(`${url}/api/admin/projects/default/change-requests`);
        await requireFresh(`${url}/api/admin/search/features?limit=1`);
        await requireFresh(`${url}/api/admin/events/search`, { method: 'POST', body: '{"limit":1}' });
      },
      { timeoutMs },
    );
  }
  return performance.now() - startedAt;
}

interface TortureOptions {
  readonly seed: number;
  readonly minutes: number;
  /** folder for the data of the servers, the output of the processes, and the ledgers */
  readonly folder: string;
  readonly writers?: number;
  /** the longest pause of a writer between two writes */
  readonly maxPauseMs?: number;
  readonly scale?: ReplicaCounts;
  /** the faults to inject; all of them by default */
  readonly faults?: readonly Fault[];
  /** whether faults are injected concurrently, without waiting for the recovery from each */
  readonly concurrent?: boolean;
  readonly log?: (line: string) => void;
}

/** How often a fault was attempted and took effect, and how long the recovery took. */
interface FaultResult {
  readonly fault: string;
  readonly attempts: number;
  readonly injected: number;
  /** milliseconds from the end of the fault until every gateway responded without error or staleness */
  readonly recoveredAfterMs: readonly number[];
}

export interface TortureReport extends Verification {
  readonly faults: readonly FaultResult[];
}

/** Timeout of a recovery. */
const recoveryTimeoutMs = 60_000;
/** The API allows 500, and some may exist whose creation was not acknowledged. */
const maxProjects = 400;
/** Maximum attempts in the first round until a fault takes effect. */
const maxAttempts = 8;

const defaultScale: ReplicaCounts = {
  features: 2,
  'change-requests': 1,
  audit: 2,
  search: 1,
  integrations: 2,
  gateway: 2,
};

type FaultRecord = { fault: string; attempts: number; injected: number; recoveredAfterMs: number[] };

interface InjectionOptions {
  readonly random: SeededRandom;
  readonly isOver: () => boolean;
  /** called after each attempt; `injected` is whether the fault took effect */
  readonly onInjected: (fault: Fault, injected: boolean) => Promise<void>;
}

/** Injects one fault after the other, each at least once, until the end of the run. */
async function injectSequentially(
  cluster: Cluster,
  selectedFaults: readonly Fault[],
  { random, isOver, onInjected }: InjectionOptions,
): Promise<void> {
  for (let round = 1; selectedFaults.length > 0 && (round === 1 || !isOver()); round++) {
    for (const fault of random.shuffled(selectedFaults)) {
      if (round > 1 && isOver()) return;
      for (let tries = round === 1 ? maxAttempts : 1; tries > 0; tries--) {
        await sleep(random.fractional(0, 800));
        const injected = await fault.inject(cluster, random);
        await onInjected(fault, injected);
        if (injected) break;
      }
    }
  }
}

interface FaultObserver {
  readonly log: (line: string) => void;
  readonly report: (violation: string) => void;
  /** checks that the states of the SDKs equal that of the database, while no client writes */
  readonly checkSdks: (after: string) => Promise<void>;
}

async function injectFaults(
  cluster: Cluster,
  { seed, minutes, faults: selectedFaults = faults, concurrent = false }: TortureOptions,
  { log, report, checkSdks }: FaultObserver,
): Promise<FaultResult[]> {
  const random = seededRandom(seed).derive('faults');
  const until = performance.now() + minutes * 60_000;
  const records = new Map<Fault, FaultRecord>(
    selectedFaults.map((fault) => [fault, { fault: fault.name, attempts: 0, injected: 0, recoveredAfterMs: [] }]),
  );
  const recoveryMs = (after: string): Promise<number> =>
    waitUntilRecovered(cluster, recoveryTimeoutMs).catch((error: Error) => {
      report(`After "${after}" it did not recover within ${recoveryTimeoutMs / 1000} s: ${error.message}`);
      return recoveryTimeoutMs;
    });
  const onInjected = async (fault: Fault, injected: boolean): Promise<void> => {
    const record = records.get(fault) as FaultRecord;
    record.attempts++;
    if (injected) record.injected++;
    if (!injected) return log(`${fault.name}: had no effect`);
    if (concurrent) return log(fault.name);
    const startedAt = performance.now();
    await recoveryMs(fault.name);
    await checkSdks(fault.name);
    const ms = performance.now() - startedAt;
    record.recoveredAfterMs.push(ms);
    log(`${fault.name}: recovered after ${Math.round(ms)} ms`);
  };
  let hasFailed = false;
  const isOver = (): boolean => hasFailed || performance.now() >= until;
  const injectAll = (group: readonly Fault[], name: string): Promise<void> =>
    injectSequentially(cluster, group, { random: random.derive(name), isOver, onInjected }).catch((error) => {
      hasFailed = true;
      report((error as Error).message);
    });
  if (!concurrent) await injectAll(selectedFaults, 'all');
  else {
    const { everything = [], ...byTarget } = Object.groupBy(selectedFaults, ({ target }) => target);
    await Promise.all(Object.entries(byTarget).map(([target, targeted = []]) => injectAll(targeted, target)));
    await injectAll(everything, 'everything');
  }
  if (concurrent) log(`recovered after ${Math.round(await recoveryMs('everything'))} ms`);
  return [...records.values()];
}

/** Starts a platform, injects faults while clients write, and verifies that nothing was lost, duplicated or reordered. */
export async function runTorture(options: TortureOptions): Promise<TortureReport> {
  const { seed, folder, writers = 4, maxPauseMs = 60, scale = defaultScale, log = () => undefined } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const random = seededRandom(seed);
  const cluster = await startCluster({ folder, scale, random, log, settings: sdkClientSettings });
  const follower = startFeedFollower({ urls: cluster.urls, token: cluster.token, random: random.derive('follower') });
  let isOver = false;
  let resume: () => void = () => undefined;
  /** resolves when writers may continue; undefined while they are not paused */
  let writePause: Promise<void> | undefined;
  let sdks: SdkClients | undefined;
  const violations: string[] = [];
  const checkSdks = async (after: string): Promise<void> => {
    writePause = new Promise((resolve) => (resume = resolve));
    await sdks?.awaitCurrent().catch((error: Error) => void violations.push(`After "${after}": ${error.message}`));
    writePause = undefined;
    resume();
  };
  try {
    log('all processes are ready');
    sdks = await startSdkClients(cluster, random.derive('SDKs'));
    const files = Array.from({ length: writers }, (_, nth) => path.join(folder, `writer-${nth + 1}.jsonl`));
    const ledgers = files.map(openLedger);
    const writing = ledgers.map(({ write }, nth) => {
      const name = `w${nth + 1}`;
      return runWriter({
        name,
        urls: cluster.urls,
        token: cluster.token,
        random: random.derive(name),
        record: write,
        isOver: () => isOver,
        maxProjects: Math.floor(maxProjects / writers),
        maxPauseMs,
        mayWrite: () => writePause ?? Promise.resolve(),
        countRestores: () => cluster.restores.filter(({ service }) => service === 'change-requests').length,
      });
    });
    const report = (violation: string): void => void violations.push(violation);
    const results = await injectFaults(cluster, options, { log, report, checkSdks });
    isOver = true;
    await Promise.all(writing);
    for (const ledger of ledgers) ledger.close();
    await checkSdks('the last write');
    log(sdks.summary());
    await sdks.stop();
    log('the writers have stopped; verifying');
    const verdict = await verifyTortureRun(cluster, files.map(readLedger), follower);
    await cluster.stop();
    const errors = loggedErrors(folder);
    return {
      ...verdict,
      violations: [...violations, ...sdks.violations, ...verdict.violations, ...errors],
      faults: results,
    };
  } catch (error) {
    isOver = true;
    await cluster.stop();
    throw error;
  } finally {
    await Promise.all([follower.stop(), sdks?.stop()]);
  }
}
