import { setTimeout as sleep } from 'node:timers/promises';
import { readDescription } from './api-description.ts';
import { invalidRequests } from './invalid-requests.ts';
import { fuzzClient, curlOf, jsonIn } from './fuzz-client.ts';
import { responseFaults, type Promised } from './response-faults.ts';
import { knownObjects } from './known-objects.ts';
import { readKnownObjects, populate } from './populate.ts';
import { randomOfRequest } from '../seeded-random.ts';
import { validRequests } from './valid-requests.ts';
import { valueSource } from './value-source.ts';

export interface FuzzOptions {
  readonly url: string;
  readonly key: string;
  readonly requests: number;
  readonly seed: number;
  /** concurrent requests */
  readonly concurrency: number;
  /** only operations whose id or address contains it */
  readonly only?: string;
  /** the 99th percentile of the server's event loop delay since the last measurement, in milliseconds */
  readonly eventLoopP99Ms?: () => Promise<number | undefined>;
  readonly progress?: (done: number) => void;
  /** ends the run before all requests are sent; the report has the results until then */
  readonly enough?: AbortSignal;
}

export interface Violation {
  readonly promise: Promised;
  readonly operation: string;
  readonly detail: string;
  /** the log names it too */
  readonly errorId: string | undefined;
  readonly curl: string;
  /** which request of the run it was */
  readonly nth: number;
  /** how many more of the operation broke the same promise by the same rule */
  times: number;
}

export interface Tally {
  requests: number;
  readonly statuses: Map<number, number>;
  /** the messages of refusals, and their counts */
  readonly refusals: Map<string, number>;
}

export interface FuzzReport {
  readonly operations: number;
  readonly seconds: number;
  readonly all: Tally;
  /** operations with at least one successful response */
  readonly succeeded: ReadonlySet<string>;
  /** the others, with the statuses of the responses to their valid requests */
  readonly neverSucceeded: ReadonlyMap<string, Tally>;
  /** by the rule that was broken; those in order under `none` */
  readonly byRule: ReadonlyMap<string, Tally>;
  readonly slowest: readonly {
    readonly operation: string;
    readonly rule: string;
    readonly tookMs: number;
    readonly curl: string;
  }[];
  /** of every stretch of the run, in order */
  readonly eventLoopP99Ms: readonly number[];
  readonly violations: readonly Violation[];
}

export const noBrokenRule = 'none: in order';
const replenishEvery = 1_000;
const stretchMs = 10_000;
const slowestShown = 5;

const count = (tally: Tally, status: number): void => {
  tally.requests++;
  tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
};

const newTally = (): Tally => ({ requests: 0, statuses: new Map(), refusals: new Map() });

const tallyIn = (tallies: Map<string, Tally>, name: string): Tally => {
  const tally = tallies.get(name) ?? newTally();
  tallies.set(name, tally);
  return tally;
};

const countRefusal = ({ refusals }: Tally, text: string): void => {
  const said = (/"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text).slice(0, 160);
  refusals.set(said, (refusals.get(said) ?? 0) + 1);
};

const errorIdIn = (text: string): string | undefined => /"id":"([0-9a-f-]{36})"/.exec(text)?.[1];

/**
 * Sends so many requests to a Bunting that runs: to every operation in turn, half of them valid and half of them with one broken rule, and
 * checks every response against the description.
 */
export const runFuzz = async (options: FuzzOptions): Promise<FuzzReport> => {
  const { url, key, requests, seed, concurrency, only = '' } = options;
  const document: unknown = await (await fetch(`${url}/docs/openapi.json`)).json();
  const description = readDescription(document);
  const chosen = description.operations.filter(({ id, path }) => id.includes(only) || path.includes(only));
  if (chosen.length === 0) throw new Error(`No operation is called ${only}.`);
  const client = fuzzClient(url, concurrency);
  const known = knownObjects(description.operations.map(({ path }) => path));
  const keys = { admin: key, personal: key, personalId: '' };
  let round = 0;
  const make = validRequests(description, known, valueSource(description, known), keys);
  const broken = invalidRequests(description);

  const all = newTally();
  const byRule = new Map<string, Tally>([[noBrokenRule, newTally()]]);
  const succeeded = new Set<string>();
  const inOrderOf = new Map<string, Tally>();
  const violations = new Map<string, Violation>();
  let slowest: { operation: string; rule: string; tookMs: number; curl: string }[] = [];

  const one = async (nth: number): Promise<void> => {
    const random = randomOfRequest(seed, nth);
    const operation = chosen[nth % chosen.length] as (typeof chosen)[number];
    const isSound = random.chance(0.5);
    const sound = make(operation, random, isSound);
    const breakage = isSound ? undefined : broken(sound, random);
    const request = breakage?.request ?? sound;
    const rule = breakage?.rule ?? noBrokenRule;
    const response = await client.send(request).catch((error: Error) => error);
    if (response instanceof Error) {
      const curl = curlOf(url, request);
      const said = { promise: 'no response', operation: operation.id, detail: `${rule}: ${response.message}` } as const;
      violations.set(`no response ${nth}`, { ...said, errorId: undefined, curl, nth, times: 1 });
      return;
    }
    count(tallyIn(byRule, rule), response.status);
    count(all, response.status);
    if (breakage === undefined) {
      const tally = tallyIn(inOrderOf, operation.id);
      count(tally, response.status);
      if (response.status >= 400) countRefusal(tally, response.text);
      if (response.status < 300) succeeded.add(operation.id);
      if (response.status < 300) known.learn(operation.path, request.values, jsonIn(response));
    }
    if (slowest.length < slowestShown || response.tookMs > (slowest.at(-1)?.tookMs ?? 0)) {
      slowest.push({ operation: operation.id, rule, tookMs: response.tookMs, curl: curlOf(url, request) });
      slowest = slowest.sort((a, b) => b.tookMs - a.tookMs).slice(0, slowestShown);
    }
    for (const { promise, detail } of responseFaults(request, response, breakage)) {
      const name = `${promise} ${operation.id} ${rule} ${response.status}`;
      const before = violations.get(name);
      if (before !== undefined) before.times++;
      else {
        const errorId = response.status < 500 ? undefined : errorIdIn(response.text);
        const curl = curlOf(url, request);
        violations.set(name, { promise, operation: operation.id, detail, errorId, curl, nth, times: 1 });
      }
    }
  };

  const eventLoopP99Ms: number[] = [];
  let over = false;
  const measure = async (): Promise<void> => {
    while (!over) {
      for (let waited = 0; waited < stretchMs && !over; waited += 100) await sleep(100);
      const p99 = await options.eventLoopP99Ms?.();
      if (p99 !== undefined) eventLoopP99Ms.push(p99);
    }
  };

  const replenish = async (): Promise<void> => {
    known.clear();
    Object.assign(keys, await populate(client, key, known, round++));
    await readKnownObjects(client, keys.personal, description.operations, known);
  };
  try {
    await replenish();
    // The requests of the preparation are not counted.
    await options.eventLoopP99Ms?.();
    const startedAt = performance.now();
    const measuring = measure();
    let next = 0;
    let replenishing: Promise<void> = Promise.resolve();
    const work = async (): Promise<void> => {
      while (next < requests && options.enough?.aborted !== true) {
        const nth = next++;
        if (nth > 0 && nth % replenishEvery === 0) {
          // Sequentially: requests wait if objects cannot be recreated fast enough.
          const before = replenishing;
          replenishing = before.then(replenish);
          await before;
        }
        await one(nth);
        if (nth % 500 === 0) options.progress?.(nth);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    await replenishing;
    const seconds = (performance.now() - startedAt) / 1_000;
    over = true;
    await measuring;
    return {
      operations: chosen.length,
      seconds,
      all,
      succeeded,
      neverSucceeded: new Map([...inOrderOf].filter(([id]) => !succeeded.has(id))),
      byRule,
      slowest,
      eventLoopP99Ms,
      violations: [...violations.values()],
    };
  } finally {
    over = true;
    client.close();
  }
};
