import { setTimeout as sleep } from 'node:timers/promises';
import { benchFlag } from '../generated-flags.ts';
import {
  type BenchOptions,
  environment,
  percentile,
  printRow,
  printTableHead,
  progressOf,
  seedFlags,
  send as sendTo,
  strategiesOf,
  withServers,
} from '../run.ts';
import type { ServerUnderTest } from '../../server-under-test.ts';

const project = '/api/admin/projects/default';
const proposalsPath = `${project}/environments/${environment}/change-requests`;

/** The number of features: each listed request changes two that no other changes, and each applied request a hundred. */
const featureCount = 1_000;
const applyRounds = 10;
const listedRequests = 300;
const appliedFeatures = 100;

const creatingOne = 'creating a request with a change';
const sizes: readonly number[] = [1, 20, 100];
function addingTo(size: number): string {
  return `adding a change to a request of ${size}`;
}
const largeRequest = `${2 * appliedFeatures} changes of ${appliedFeatures} features`;
const listingMany = `listing ${listedRequests} in review, half with a conflict`;

/** The limits that the documentation promises, in milliseconds. */
const limits = { add: 15, list: 100, apply: 500 } as const;

interface Change {
  readonly action: string;
  readonly feature: string;
  readonly payload: unknown;
}

interface ReceivedRequest {
  readonly id: number;
  readonly features: readonly { readonly changes: readonly { readonly id: number }[] }[];
}

function nameOf(nth: number): string {
  return benchFlag(nth).name;
}

function enableChange(nth: number, round = 0): Change {
  return {
    action: 'updateEnabled',
    feature: nameOf(nth),
    payload: { enabled: (nth + round) % 2 === 1 },
  };
}

function addStrategyChange(nth: number): Change {
  return {
    action: 'addStrategy',
    feature: nameOf(nth),
    payload: {
      name: 'flexibleRollout',
      parameters: { rollout: String(nth % 101), stickiness: 'default', groupId: nameOf(nth) },
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada', 'grace'] }],
    },
  };
}

function updateStrategyChange(nth: number, strategy: string, round = 0): Change {
  return {
    action: 'updateStrategy',
    feature: nameOf(nth),
    payload: { id: strategy, title: `Round ${round}`, parameters: { rollout: String((nth * 7 + round) % 101) } },
  };
}

/**
 * Measures change requests over HTTP, by one client that sends one request after the other: adding to requests of several
 * sizes, listing many of which half are in conflict, previewing and applying a large one.
 */
export function benchChangeRequests({ only }: BenchOptions): Promise<unknown> {
  return withServers({ urls: [], token: '' }, ([server]) => measureRequests(server, only));
}

async function measureRequests(target: ServerUnderTest, only: string): Promise<unknown> {
  const send = <T>(method: string, path: string, body?: unknown) => sendTo<T>(target, method, path, body);
  const propose = (changes: Change | readonly Change[]) => send<ReceivedRequest>('POST', proposalsPath, changes);
  const moveToState = (id: number, state: string) => send('PUT', `${project}/change-requests/${id}/state`, { state });

  const results: unknown[] = [];
  const report = (name: string, durations: readonly number[], limit?: number): void => {
    const [p50, p99] = [percentile(durations, 0.5), percentile(durations, 0.99)];
    results.push({ name, times: durations.length, p50, p99, limit });
    const verdict = limit === undefined ? '' : p50 < limit ? `holds (${limit})` : `**not held** (${limit})`;
    printRow(name, durations.length, p50.toFixed(1), p99.toFixed(1), verdict);
  };

  /** Adds changes to a draft with a given number of changes, and discards them again, so that the draft keeps its size. */
  const measureAdding = async (size: number): Promise<void> => {
    const { reply: draft } = await propose(Array.from({ length: size }, (_, nth) => enableChange(nth)));
    const requestPath = `${project}/change-requests/${draft.id}`;
    const durations: number[] = [];
    for (let nth = 0; nth < 110; nth++) {
      const { reply, tookMs } = await propose(addStrategyChange(size + nth));
      if (nth >= 10) durations.push(tookMs);
      const added = reply.features.at(-1)?.changes.at(-1);
      await send('DELETE', `${requestPath}/changes/${added?.id}`);
    }
    report(addingTo(size), durations, limits.add);
    await send('DELETE', requestPath);
  };

  const measureCreating = async (): Promise<void> => {
    const durations: number[] = [];
    for (let nth = 0; nth < 110; nth++) {
      const { reply, tookMs } = await propose(addStrategyChange(nth));
      if (nth >= 10) durations.push(tookMs);
      await send('DELETE', `${project}/change-requests/${reply.id}`);
    }
    report(creatingOne, durations, limits.add);
  };

  /** All listed requests are in review, with two changes each. Every other one changes a strategy that was deleted after the proposal. */
  const measureListing = async (strategies: Awaited<ReturnType<typeof strategiesOf>>): Promise<void> => {
    const progress = progressOf(listedRequests, 'requests');
    for (let nth = 0; nth < listedRequests; nth++) {
      const changes = [updateStrategyChange(nth, strategies[nth]?.id ?? ''), enableChange(featureCount - 1 - nth)];
      const { reply } = await send<ReceivedRequest>('POST', `${proposalsPath}?new=true`, changes);
      await moveToState(reply.id, 'In review');
      if (nth % 50 === 0) progress.to(nth);
    }
    progress.end();
    for (let nth = 0; nth < listedRequests; nth += 2) {
      const { feature, id } = strategies[nth] ?? { feature: '', id: '' };
      await send('DELETE', `${project}/features/${feature}/environments/${environment}/strategies/${id}`);
    }
    const kinds = { 'the pending ones of the caller': '/pending', 'the newest of a project': '' };
    for (const [name, path] of Object.entries(kinds)) {
      const durations: number[] = [];
      for (let nth = 0; nth < 25; nth++) {
        const { reply, tookMs } = await send<readonly ReceivedRequest[]>('GET', `${project}/change-requests${path}`);
        const conflicts = JSON.stringify(reply).split('Strategy has been deleted').length - 1;
        if (reply.length !== listedRequests || conflicts !== listedRequests / 2)
          throw new Error(`${reply.length}, ${conflicts}`);
        if (nth >= 5) durations.push(tookMs);
      }
      report(`${listingMany}: ${name}`, durations, limits.list);
    }
  };

  const measureApplying = async (strategies: Awaited<ReturnType<typeof strategiesOf>>): Promise<void> => {
    const durations = { proposing: [] as number[], previewing: [] as number[], applying: [] as number[] };
    for (let round = 0; round < applyRounds; round++) {
      const from = listedRequests + (round % 5) * appliedFeatures;
      const featureIndexes = Array.from({ length: appliedFeatures }, (_, index) => from + index);
      const changes = featureIndexes.flatMap((nth) => [
        updateStrategyChange(nth, strategies[nth]?.id ?? '', round),
        enableChange(nth, round),
      ]);
      const { reply, tookMs } = await propose(changes);
      durations.proposing.push(tookMs);
      durations.previewing.push((await send('GET', `${project}/change-requests/${reply.id}/preview`)).tookMs);
      await moveToState(reply.id, 'In review');
      await moveToState(reply.id, 'Approved');
      durations.applying.push((await moveToState(reply.id, 'Applied')).tookMs);
      // The events of the request must be projected before the next measurement.
      await sleep(300);
    }
    report(`proposing ${largeRequest}`, durations.proposing);
    report(`previewing ${largeRequest}`, durations.previewing);
    report(`applying ${largeRequest}`, durations.applying, limits.apply);
  };

  const isSelected = (name: string): boolean => name.includes(only);
  await seedFlags(target, { count: featureCount });
  const strategies = await strategiesOf(target, featureCount, featureCount);
  printTableHead('change requests', 'times', 'p50 ms', 'p99 ms', '');
  if (isSelected(creatingOne)) await measureCreating();
  for (const size of sizes) if (isSelected(addingTo(size))) await measureAdding(size);
  if (['proposing', 'previewing', 'applying'].some((action) => isSelected(`${action} ${largeRequest}`)))
    await measureApplying(strategies);
  if (isSelected(listingMany)) await measureListing(strategies);
  return { date: new Date().toISOString(), results };
}
