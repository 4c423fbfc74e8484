import { setTimeout as sleep } from 'node:timers/promises';
import { readDescription } from './api-description.ts';
import { invalidRequests } from './invalid-requests.ts';
import { fuzzClient, curlOf, jsonIn } from './fuzz-client.ts';
import { responseFaults, type BrokenPromise } from './response-faults.ts';
import { knownObjects } from './known-objects.ts';
import { readKnownObjects, populate } from './populate.ts';
import { randomOfRequest } from '../seeded-random.ts';
import { validRequests } from './valid-requests.ts';
import { valueSource } from './value-source.ts';

interface FuzzOptions {
  readonly url: string;
  readonly key: string;
  readonly requests: number;
  readonly seed: number;
  /** concurrent requests */
  readonly concurrency: number;
  /** only operations whose id or path contains this text */
  readonly only?: string;
  /** the 99th percentile of the server's event loop delay since the last measurement, in milliseconds */
  readonly eventLoopP99Ms?: () => Promise<number | undefined>;
  readonly progress?: (done: number) => void;
  /** ends the run before all requests are sent; the report has the results until then */
  readonly signal?: AbortSignal;
}

interface Violation {
  readonly promise: BrokenPromise;
  readonly operation: string;
  readonly detail: string;
  /** the id of the error in a 5xx response, which the log line of the error has too */
  readonly errorId: string | undefined;
  readonly curl: string;
  /** the number of the request in the run, from 0 */
  readonly nth: number;
  /** how many requests to the operation broke the promise with the same rule and status */
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
  /** operations without a successful response, with the responses to their valid requests */
  readonly neverSucceeded: ReadonlyMap<string, Tally>;
  /** the responses by the rule that their requests broke; those to valid requests under `noBrokenRule` */
  readonly byRule: ReadonlyMap<string, Tally>;
  readonly slowest: readonly {
    readonly operation: string;
    readonly rule: string;
    readonly tookMs: number;
    readonly curl: string;
  }[];
  /** the 99th percentile of the server's event loop delay in each interval of 10 s of the run, in order */
  readonly eventLoopP99Ms: readonly number[];
  readonly violations: readonly Violation[];
}

export const noBrokenRule = 'none: in order';
/** The number of requests after which the objects that requests refer to are created again. */
const replenishEvery = 1_000;
const eventLoopIntervalMs = 10_000;
const maxSlowest = 5;

const countResponse = (tally: Tally, status: number): void => {
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
  const message = (/"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text).slice(0, 160);
  refusals.set(message, (refusals.get(message) ?? 0) + 1);
};

const errorIdIn = (text: string): string | undefined => /"id":"([0-9a-f-]{36})"/.exec(text)?.[1];

/**
 * Sends the requested number of requests to a running Bunting server: to every operation in turn, half of them valid and half of them with
 * one broken rule. Checks every response against the OpenAPI description.
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
  const makeValid = validRequests(description, known, valueSource(description, known), keys);
  const makeInvalid = invalidRequests(description);

  const all = newTally();
  const byRule = new Map<string, Tally>([[noBrokenRule, newTally()]]);
  const succeeded = new Set<string>();
  const validByOperation = new Map<string, Tally>();
  const violations = new Map<string, Violation>();
  let slowest: { operation: string; rule: string; tookMs: number; curl: string }[] = [];

  const sendAndCheck = async (nth: number): Promise<void> => {
    const random = randomOfRequest(seed, nth);
    const operation = chosen[nth % chosen.length] as (typeof chosen)[number];
    const isValid = random.chance(0.5);
    const validRequest = makeValid(operation, random, isValid);
    const invalid = isValid ? undefined : makeInvalid(validRequest, random);
    const request = invalid?.request ?? validRequest;
    const rule = invalid?.rule ?? noBrokenRule;
    const response = await client.send(request).catch((error: Error) => error);
    if (response instanceof Error) {
      const curl = curlOf(url, request);
      const detail = `${rule}: ${response.message}`;
      violations.set(`no response ${nth}`, {
        promise: 'no response',
        operation: operation.id,
        detail,
        errorId: undefined,
        curl,
        nth,
        times: 1,
      });
      return;
    }
    countResponse(tallyIn(byRule, rule), response.status);
    countResponse(all, response.status);
    if (invalid === undefined) {
      const tally = tallyIn(validByOperation, operation.id);
      countResponse(tally, response.status);
      if (response.status >= 400) countRefusal(tally, response.text);
      if (response.status < 300) succeeded.add(operation.id);
      if (response.status < 300) known.collect(operation.path, request.pathValues, jsonIn(response));
    }
    if (slowest.length < maxSlowest || response.tookMs > (slowest.at(-1)?.tookMs ?? 0)) {
      slowest.push({ operation: operation.id, rule, tookMs: response.tookMs, curl: curlOf(url, request) });
      slowest = slowest.sort((a, b) => b.tookMs - a.tookMs).slice(0, maxSlowest);
    }
    for (const { promise, detail } of responseFaults(request, response, invalid)) {
      const violationKey = `${promise} ${operation.id} ${rule} ${response.status}`;
      const earlier = violations.get(violationKey);
      if (earlier !== undefined) earlier.times++;
      else {
        const errorId = response.status < 500 ? undefined : errorIdIn(response.text);
        const curl = curlOf(url, request);
        violations.set(violationKey, { promise, operation: operation.id, detail, errorId, curl, nth, times: 1 });
      }
    }
  };

  const eventLoopP99Ms: number[] = [];
  let hasEnded = false;
  const measureEventLoop = async (): Promise<void> => {
    while (!hasEnded) {
      for (let waited = 0; waited < eventLoopIntervalMs && !hasEnded; waited += 100) await sleep(100);
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
    // Discards the measurement of the time until now: the creation of objects is not part of the run.
    await options.eventLoopP99Ms?.();
    const startedAt = performance.now();
    const measuring = measureEventLoop();
    let next = 0;
    let replenishing: Promise<void> = Promise.resolve();
    const sendRequests = async (): Promise<void> => {
      while (next < requests && options.signal?.aborted !== true) {
        const nth = next++;
        if (nth > 0 && nth % replenishEvery === 0) {
          // Replenishments run one after another. A new one waits for the previous one, and with it the sender of this request.
          const previous = replenishing;
          replenishing = previous.then(replenish);
          await previous;
        }
        await sendAndCheck(nth);
        if (nth % 500 === 0) options.progress?.(nth);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, sendRequests));
    await replenishing;
    const seconds = (performance.now() - startedAt) / 1_000;
    hasEnded = true;
    await measuring;
    return {
      operations: chosen.length,
      seconds,
      all,
      succeeded,
      neverSucceeded: new Map([...validByOperation].filter(([id]) => !succeeded.has(id))),
      byRule,
      slowest,
      eventLoopP99Ms,
      violations: [...violations.values()],
    };
  } finally {
    hasEnded = true;
    client.close();
  }
};
