import { setTimeout as sleep } from 'node:timers/promises';
import { benchFlag } from '../generated-flags.ts';
import { seedFlags, fetchStrategyIds } from '../http/seed-flags.ts';
import { startServerUnderTest, type ServerUnderTest } from '../http/server-under-test.ts';

const project = '/api/admin/projects/default';
const environment = 'development';
const proposing = `${project}/environments/${environment}/change-requests`;

/** The features: each request that is listed has two of them to itself, and each that is applied a hundred. */
const features = 1_000;
const rounds = 10;
const listed = 300;
const appliedFeatures = 100;

const creatingOne = 'creating a request with a change';
const sizes: readonly number[] = [1, 20, 100];
const addingTo = (size: number): string => `adding a change to a request of ${size}`;
const large = `${2 * appliedFeatures} changes of ${appliedFeatures} features`;
const listingMany = `listing ${listed} in review, half with a conflict`;

/** The bounds of the documentation in milliseconds. */
const bounds = { add: 15, list: 100, apply: 500 } as const;

interface Measured {
  readonly name: string;
  readonly times: number;
  readonly p50: number;
  readonly p99: number;
  readonly bound: number | undefined;
}

interface Change {
  readonly action: string;
  readonly feature: string;
  readonly payload: unknown;
}

interface Shown {
  readonly id: number;
  readonly features: readonly { readonly changes: readonly { readonly id: number }[] }[];
}

const percentile = (taken: readonly number[], share: number): number =>
  [...taken].sort((one, other) => one - other)[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? 0;

const nameOf = (nth: number): string => benchFlag(nth).name;

const enabling = (nth: number, round = 0): Change => ({
  action: 'updateEnabled',
  feature: nameOf(nth),
  payload: { enabled: (nth + round) % 2 === 1 },
});

const adding = (nth: number): Change => ({
  action: 'addStrategy',
  feature: nameOf(nth),
  payload: {
    name: 'flexibleRollout',
    parameters: { rollout: String(nth % 101), stickiness: 'default', groupId: nameOf(nth) },
    constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada', 'grace'] }],
  },
});

const updating = (nth: number, strategy: string, round = 0): Change => ({
  action: 'updateStrategy',
  feature: nameOf(nth),
  payload: { id: strategy, title: `Round ${round}`, parameters: { rollout: String((nth * 7 + round) % 101) } },
});

/**
 * Measures change requests over HTTP, by one client that sends one request after the other: adding to requests of several
 * sizes, listing many of which half are in conflict, previewing and applying a large one.
 */
export const benchChangeRequests = async ({ only }: { readonly only: string }): Promise<unknown> => {
  const target: ServerUnderTest = await startServerUnderTest();
  const send = async <T>(method: string, path: string, body?: unknown): Promise<{ reply: T; tookMs: number }> => {
    const beganAt = performance.now();
    const response = await fetch(`${target.url}${path}`, {
      method,
      headers: {
        authorization: target.token,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const tookMs = performance.now() - beganAt;
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
    return { reply: (text === '' ? undefined : JSON.parse(text)) as T, tookMs };
  };
  const propose = (changes: Change | readonly Change[]) => send<Shown>('POST', proposing, changes);
  const move = (id: number, state: string) => send('PUT', `${project}/change-requests/${id}/state`, { state });

  const results: Measured[] = [];
  const report = (name: string, taken: readonly number[], bound?: number): void => {
    const measured = { name, times: taken.length, p50: percentile(taken, 0.5), p99: percentile(taken, 0.99), bound };
    results.push(measured);
    const verdict = bound === undefined ? '' : measured.p50 < bound ? `holds (${bound})` : `**not held** (${bound})`;
    console.log(`| ${name} | ${taken.length} | ${measured.p50.toFixed(1)} | ${measured.p99.toFixed(1)} | ${verdict} |`);
  };

  /** Adds changes to a draft with a given number of changes, and discards them again, so that the draft keeps its size. */
  const measureAdding = async (size: number): Promise<void> => {
    const { reply: draft } = await propose(Array.from({ length: size }, (_, nth) => enabling(nth)));
    const one = `${project}/change-requests/${draft.id}`;
    const taken: number[] = [];
    for (let nth = 0; nth < 110; nth++) {
      const { reply, tookMs } = await propose(adding(size + nth));
      if (nth >= 10) taken.push(tookMs);
      const added = reply.features.at(-1)?.changes.at(-1);
      await send('DELETE', `${one}/changes/${added?.id}`);
    }
    report(addingTo(size), taken, bounds.add);
    await send('DELETE', one);
  };

  const measureCreating = async (): Promise<void> => {
    const taken: number[] = [];
    for (let nth = 0; nth < 110; nth++) {
      const { reply, tookMs } = await propose(adding(nth));
      if (nth >= 10) taken.push(tookMs);
      await send('DELETE', `${project}/change-requests/${reply.id}`);
    }
    report(creatingOne, taken, bounds.add);
  };

  /** All in review, with two changes each, and every other one with a strategy that is gone by then. */
  const measureListing = async (strategies: readonly { feature: string; id: string }[]): Promise<void> => {
    for (let nth = 0; nth < listed; nth++) {
      const changes = [updating(nth, strategies[nth]?.id ?? ''), enabling(features - 1 - nth)];
      const { reply } = await send<Shown>('POST', `${proposing}?new=true`, changes);
      await move(reply.id, 'In review');
      if (nth % 50 === 0) process.stderr.write(`\r${nth} of ${listed} requests `);
    }
    process.stderr.write('\r');
    for (let nth = 0; nth < listed; nth += 2) {
      const { feature, id } = strategies[nth] ?? { feature: '', id: '' };
      await send('DELETE', `${project}/features/${feature}/environments/${environment}/strategies/${id}`);
    }
    const kinds = { 'the pending ones of the caller': '/pending', 'the newest of a project': '' };
    for (const [name, path] of Object.entries(kinds)) {
      const taken: number[] = [];
      for (let nth = 0; nth < 25; nth++) {
        const { reply, tookMs } = await send<readonly Shown[]>('GET', `${project}/change-requests${path}`);
        const conflicts = JSON.stringify(reply).split('Strategy has been deleted').length - 1;
        if (reply.length !== listed || conflicts !== listed / 2) throw new Error(`${reply.length}, ${conflicts}`);
        if (nth >= 5) taken.push(tookMs);
      }
      report(`${listingMany}: ${name}`, taken, bounds.list);
    }
  };

  const measureApplying = async (strategies: readonly { feature: string; id: string }[]): Promise<void> => {
    const taken = { proposing: [] as number[], previewing: [] as number[], applying: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      const from = listed + (round % 5) * appliedFeatures;
      const chosen = Array.from({ length: appliedFeatures }, (_, index) => from + index);
      const changes = chosen.flatMap((nth) => [updating(nth, strategies[nth]?.id ?? '', round), enabling(nth, round)]);
      const { reply, tookMs } = await propose(changes);
      taken.proposing.push(tookMs);
      taken.previewing.push((await send('GET', `${project}/change-requests/${reply.id}/preview`)).tookMs);
      await move(reply.id, 'In review');
      await move(reply.id, 'Approved');
      taken.applying.push((await move(reply.id, 'Applied')).tookMs);
      // Its events must be projected before the next measurement.
      await sleep(300);
    }
    report(`proposing ${large}`, taken.proposing);
    report(`previewing ${large}`, taken.previewing);
    report(`applying ${large}`, taken.applying, bounds.apply);
  };

  const wanted = (name: string): boolean => name.includes(only);
  try {
    await seedFlags(target, { count: features, how: 'import' }, (done) =>
      process.stderr.write(`\r${done} of ${features} flags `),
    );
    process.stderr.write('\r');
    const strategies = await fetchStrategyIds(target, features, features);
    console.log('\n| change requests | times | p50 ms | p99 ms | |\n| --- | ---: | ---: | ---: | --- |');
    if (wanted(creatingOne)) await measureCreating();
    for (const size of sizes) if (wanted(addingTo(size))) await measureAdding(size);
    if (['proposing', 'previewing', 'applying'].some((what) => wanted(`${what} ${large}`))) {
      await measureApplying(strategies);
    }
    if (wanted(listingMany)) await measureListing(strategies);
    return { date: new Date().toISOString(), results };
  } finally {
    await target.stop();
  }
};
