import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { readDescription, type DescribedResponse } from './api-description.ts';
import { curlOf, fuzzClient, type FuzzResponse, jsonIn, linesType } from './fuzz-client.ts';
import { knownObjects } from './known-objects.ts';
import { populate } from './populate.ts';
import { type FuzzRequest, type InvalidRequest, invalidRequest, validRequest } from './requests.ts';
import { drawsOf } from './values.ts';

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
  /** ends the run at once, also while requests are under way; the report has the results until then */
  readonly signal?: AbortSignal;
}

/** What a response can do that breaks a promise of the API. */
export const promises = [
  'no response',
  'a response of 5xx',
  'an undocumented status',
  'a body that breaks its schema',
  'a broken input accepted',
  'a broken input refused as something else',
] as const;

interface Violation {
  readonly promise: (typeof promises)[number];
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

/** Responses by status, and the messages of refusals with their counts. */
export interface Tally {
  readonly statuses: Map<number, number>;
  readonly refusals: Map<string, number>;
}

const noBrokenRule = 'none: in order';
/** The number of requests after which the objects that requests refer to are created again. */
const replenishEvery = 1_000;
const eventLoopIntervalMs = 10_000;
const maxSlowest = 5;

/**
 * Sends the requested number of requests to a running Bunting server: to every operation in turn, half of them valid and half of them with
 * one broken rule. Checks every response against the OpenAPI description.
 */
export async function runFuzz(options: FuzzOptions) {
  const { url, key, requests, seed, concurrency, only = '', signal } = options;
  const isEnded = (): boolean => signal?.aborted === true;
  const description = readDescription(await (await fetch(`${url}/docs/openapi.json`)).json());
  const chosen = description.operations.filter(({ id, path }) => id.includes(only) || path.includes(only));
  if (chosen.length === 0) throw new Error(`No operation is called ${only}.`);
  const client = fuzzClient(url, concurrency, signal);
  const known = knownObjects(description.operations.map(({ path }) => path));
  const keys = { admin: key, personal: key, personalId: '' };

  /** the responses by the rule that their requests broke; those to valid requests under `noBrokenRule` */
  const byRule = new Map<string, Tally>();
  /** the responses to valid requests by operation */
  const byOperation = new Map<string, Tally>();
  const violations = new Map<string, Violation>();
  let slowest: { operation: string; rule: string; tookMs: number }[] = [];

  const sendAndCheck = async (nth: number): Promise<void> => {
    const draw = drawsOf(seed, nth);
    const operation = chosen[nth % chosen.length] as (typeof chosen)[number];
    const isValid = draw(fc.boolean());
    const valid = validRequest(description, operation, known, keys, draw, isValid);
    const invalid = isValid ? undefined : invalidRequest(description, valid, draw);
    const { request = valid, rule = noBrokenRule } = invalid ?? {};
    const report = (promise: Violation['promise'], detail: string, response?: FuzzResponse): void => {
      const violation = `${promise} ${operation.id} ${rule} ${response?.status ?? nth}`;
      const earlier = violations.get(violation);
      if (earlier !== undefined) return void earlier.times++;
      const errorId = /"id":"([0-9a-f-]{36})"/.exec((response?.status ?? 0) < 500 ? '' : (response?.text ?? ''))?.[1];
      const curl = curlOf(url, request);
      violations.set(violation, { promise, operation: operation.id, detail, errorId, curl, nth, times: 1 });
    };
    const response = await client.send(request).catch((error: Error) => error);
    if (response instanceof Error) return isEnded() ? undefined : report('no response', `${rule}: ${response.message}`);
    count(byRule, rule, response);
    if (isValid) {
      count(byOperation, operation.id, response);
      if (response.status < 300) known.collect(operation.path, request.pathValues, jsonIn(response));
    }
    slowest = [...slowest, { operation: operation.id, rule, tookMs: response.tookMs }]
      .sort((a, b) => b.tookMs - a.tookMs)
      .slice(0, maxSlowest);
    for (const { promise, detail } of responseFaults(request, response, invalid)) report(promise, detail, response);
  };

  const eventLoopP99Ms: number[] = [];
  let hasEnded = false;
  const measureEventLoop = async (): Promise<void> => {
    while (!hasEnded) {
      for (let waited = 0; waited < eventLoopIntervalMs && !hasEnded; waited += 100) await sleep(100);
      // A server that has died has no measurements, and the report is about it.
      const p99 = await options.eventLoopP99Ms?.().catch(() => undefined);
      if (p99 !== undefined) eventLoopP99Ms.push(p99);
    }
  };
  let round = 0;
  const replenish = async (): Promise<void> => {
    known.clear();
    const isFirst = round === 0;
    const populated = await populate(client, key, known, description.operations, round++).catch((error: unknown) => {
      // Later, the report says more of a server that has died than this error.
      if (isFirst && !isEnded()) throw error;
    });
    Object.assign(keys, populated);
  };
  try {
    await replenish();
    // Discards the measurement of the time until now: the creation of objects is not part of the run.
    await options.eventLoopP99Ms?.().catch(() => undefined);
    const startedAt = performance.now();
    const measuring = measureEventLoop();
    let next = 0;
    let replenishing: Promise<void> = Promise.resolve();
    const sendRequests = async (): Promise<void> => {
      while (next < requests && !isEnded()) {
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
    const hasSucceeded = ({ statuses }: Tally): boolean => [...statuses.keys()].some((status) => status < 300);
    return {
      operations: chosen.length,
      seconds,
      byRule,
      /** how many operations had at least one successful response */
      succeeded: [...byOperation.values()].filter(hasSucceeded).length,
      neverSucceeded: [...byOperation].filter(([, tally]) => !hasSucceeded(tally)),
      slowest,
      /** of each interval of 10 s of the run, in order */
      eventLoopP99Ms,
      violations: [...violations.values()],
    };
  } finally {
    hasEnded = true;
    client.close();
  }
}
/** The 99th percentile of the event loop delay in the metrics of a process, in milliseconds. Each scrape starts a new measurement. */
export function eventLoopP99In(metrics: string): number | undefined {
  const seconds = /^nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)$/m.exec(metrics)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

export type FuzzReport = Awaited<ReturnType<typeof runFuzz>>;

function count(tallies: Map<string, Tally>, name: string, { status, text }: FuzzResponse): void {
  const tally = tallies.get(name) ?? { statuses: new Map<number, number>(), refusals: new Map<string, number>() };
  tallies.set(name, tally);
  tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
  if (status < 400) return;
  const message = (/"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text).slice(0, 160);
  tally.refusals.set(message, (tally.refusals.get(message) ?? 0) + 1);
}

/** The promises that a response breaks. @param invalid the request with its broken rule; undefined for a valid request */
function responseFaults(
  { operation }: FuzzRequest,
  response: FuzzResponse,
  invalid: InvalidRequest | undefined,
): Pick<Violation, 'promise' | 'detail'>[] {
  const { status, text } = response;
  const excerpt = text.slice(0, 400);
  const faults: Pick<Violation, 'promise' | 'detail'>[] = [];
  if (status >= 500) faults.push({ promise: 'a response of 5xx', detail: `${status} ${excerpt}` });
  const documented = operation.responses.get(status);
  if (documented === undefined) faults.push({ promise: 'an undocumented status', detail: `${status} ${excerpt}` });
  const fault = documented === undefined ? undefined : faultOfBody(response, documented);
  if (fault !== undefined)
    faults.push({ promise: 'a body that breaks its schema', detail: `${status}: ${fault}; ${excerpt}` });
  if (invalid !== undefined && status < 500 && status !== invalid.expected) {
    const promise = status < 400 ? 'a broken input accepted' : 'a broken input refused as something else';
    faults.push({ promise, detail: `${invalid.rule}: ${status} instead of ${invalid.expected}; ${excerpt}` });
  }
  return faults;
}

/** How the body differs from the documented one; undefined if it does not. */
function faultOfBody({ text, contentType }: FuzzResponse, { type, validate }: DescribedResponse): string | undefined {
  if (type === undefined) return text === '' ? undefined : 'has a body, and should not';
  if (contentType !== `${type}; charset=utf-8`) return `its type is ${contentType}`;
  const parts = type === linesType ? text.split('\n').filter((line) => line !== '') : [text];
  return parts.map((part) => validate(parseJson(part))).find((fault) => fault !== undefined);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
