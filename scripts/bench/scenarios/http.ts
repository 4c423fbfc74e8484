import { benchFlag } from '../generated-flags.ts';
import {
  type BenchOptions,
  type BenchRequest,
  environment,
  generateLoad,
  measure,
  type Measured,
  percentile,
  printHead,
  printRow,
  printTableHead,
  seedFlags,
  send,
  spreadOver,
  strategiesOf,
  waitUntilSettled,
  withServers,
} from '../run.ts';
import type { ServerUnderTest } from '../../server-under-test.ts';
import { tokenOf } from './sdk.ts';

const aloneTimes = 30;
const turnsWhileProjecting = 10;
/** How many tags are added before the first of them is removed: more than requests are sent at the same time. Until then flags without it lose it. */
const tagsAhead = 200;
/** The same for switching flags off and on; fewer than the flags that are switched. */
const switchesAhead = 100;

/** Measures operations of the REST API. @returns the figures; undefined with `whileProjecting` */
export function benchHttp(options: BenchOptions): Promise<unknown> {
  const { features = 1_000, seed, only } = options;
  return withServers(options, async (servers) => {
    for (const server of servers) if (seed !== undefined) await seedFlags(server, { count: features, how: seed });
    const [server] = servers;
    console.log(`${server.residentMb() ?? '–'} MB resident`);
    const operations = await Promise.all(
      servers.map(async (one) => operationsOf(features, await strategiesOf(one, features, 200), await sdkHeaders(one))),
    );
    if (options.whileProjecting) return benchWhileProjecting(server, features, operations[0] ?? [], options);
    printHead();
    const rows = [];
    const alone: [string, number][] = [];
    for (const [nth, { name }] of (operations[0] ?? []).entries()) {
      if (!name.includes(only)) continue;
      const ofServers = operations.map((list) => list[nth] as Measured);
      const lacking = await firstWithout(servers, ofServers);
      if (lacking !== undefined) {
        console.log(`${name}: left out, since ${lacking}`);
        continue;
      }
      for (const { prepare } of ofServers) await prepare?.();
      alone.push([name, await medianAlone(server, ofServers[0] as Measured)]);
      rows.push(...(await measure(servers, ofServers, options)));
    }
    printTableHead('operation', 'alone, p50 ms');
    for (const [name, ms] of alone) printRow(name, ms.toFixed(1));
    console.log('');
    for (const { url, residentMb } of servers) console.log(`${residentMb() ?? '–'} MB resident at the end, ${url}`);
    return { date: new Date().toISOString(), features, rows, alone };
  });
}

/** Of two servers, says which of them lacks an operation, and how it responds; of one, an operation that it lacks shows in its statuses. */
async function firstWithout(
  servers: readonly ServerUnderTest[],
  ofServers: readonly Measured[],
): Promise<string | undefined> {
  if (servers.length < 2) return undefined;
  for (const [nth, { url, token }] of servers.entries()) {
    const { method, path, body, headers } = (ofServers[nth] as Measured).request(0);
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: token, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    if (response.status >= 400) return `${url} responds with ${response.status}.`;
  }
  return undefined;
}

/** The headers of requests that SDKs send. */
interface SdkHeaders {
  readonly server: Readonly<Record<string, string>>;
  readonly browser: Readonly<Record<string, string>>;
  /** the entity tag of a response to a server SDK, as it is now */
  readonly entityTagOf: (path: string, headers: Readonly<Record<string, string>>) => Promise<string>;
}

/** With tokens of SDKs: unleash-server takes no admin tokens for their requests. */
async function sdkHeaders(target: ServerUnderTest): Promise<SdkHeaders> {
  const headers = async (type: 'client' | 'frontend') => ({
    authorization: await tokenOf(target, type),
    'unleash-client-spec': '5.2.0',
  });
  const server = await headers('client');
  return {
    server,
    browser: await headers('frontend'),
    entityTagOf: async (path, more) => {
      const response = await fetch(`${target.url}${path}`, { headers: { ...server, ...more } });
      await response.arrayBuffer();
      return response.headers.get('etag') ?? '*';
    },
  };
}

/** The median duration in milliseconds of an operation's requests, sent one after the other. */
async function medianAlone(target: ServerUnderTest, { request }: Measured): Promise<number> {
  const durations: number[] = [];
  for (let nth = 0; nth < aloneTimes; nth++) {
    const { method, path, body, headers } = request(nth * 31 + 7);
    durations.push((await send(target, method, path, body, headers).catch(() => ({ tookMs: Number.NaN }))).tookMs);
  }
  return percentile(durations, 0.5);
}

/** Measures GET and PATCH at rest, and in turns of a second each after an import, while search and the event log apply the imported flags. */
async function benchWhileProjecting(
  target: ServerUnderTest,
  count: number,
  operations: readonly Measured[],
  { connections }: BenchOptions,
): Promise<void> {
  const kinds = ['GET feature', 'PATCH strategy'].map(
    (wanted) => operations.find(({ name }) => name === wanted) as Measured,
  );
  // A patch that repeats an earlier one would change nothing.
  const next = kinds.map(() => 0);
  const ratesIn = async (seconds: number): Promise<readonly number[]> => {
    const rates: number[] = [];
    for (const [nth, kind] of kinds.entries()) {
      const first = next[nth] ?? 0;
      const { requests, milliseconds } = await generateLoad(target, kind, { connections, seconds, first });
      next[nth] = first + requests;
      rates.push(Math.round((requests * 1_000) / milliseconds));
    }
    return rates;
  };
  await waitUntilSettled(target);
  await ratesIn(2);
  const atRest = await ratesIn(5);
  console.log(`At rest: ${kinds.map(({ name }, nth) => `${name} ${atRest[nth]} requests/s`).join(', ')}`);
  await seedFlags(target, { count, first: count });
  printTableHead('turn after the import', ...kinds.flatMap(({ name }) => [`${name}, requests/s`, 'share of at rest']));
  for (let turn = 1; turn <= turnsWhileProjecting; turn++) {
    const rates = await ratesIn(1);
    printRow(turn, ...rates.flatMap((rate, nth) => [rate, `${Math.round((100 * rate) / (atRest[nth] ?? 1))} %`]));
  }
}

const project = '/api/admin/projects/default';
function get(path: string): BenchRequest {
  return { method: 'GET', path };
}
function search(query: string): BenchRequest {
  return get(`/api/admin/search/features?${query}`);
}
function events(query: string): BenchRequest {
  return get(`/api/admin/search/events?${query}`);
}

/** The number by which `spreadOver` gives what it gave `steps` numbers before `nth`. It is not negative. */
function before(nth: number, steps: number, below: number): number {
  return nth + steps * Math.max(0, below - 1);
}

/** The seven operations of the interface, several kinds of searches, and the polls of SDKs. @param sdk without it SDKs send the admin token */
export function operationsOf(
  count: number,
  strategies: readonly { readonly feature: string; readonly id: string }[],
  sdk: SdkHeaders = { server: {}, browser: {}, entityTagOf: async () => '*' },
): readonly Measured[] {
  const flagAt = (nth: number) => benchFlag(spreadOver(nth, count));
  const patchedAt = (nth: number) => strategies[spreadOver(nth, strategies.length)] ?? { feature: '', id: '' };
  const patchOf = (nth: number): BenchRequest => {
    const { feature, id } = patchedAt(nth);
    return {
      method: 'PATCH',
      path: `${project}/features/${feature}/environments/${environment}/strategies/${id}`,
      body: [{ op: 'replace', path: '/parameters/rollout', value: String(nth % 101) }],
    };
  };
  const proposalOf = (nth: number): BenchRequest => ({
    method: 'POST',
    path: `${project}/environments/${environment}/change-requests`,
    body: {
      action: 'updateEnabled',
      feature: benchFlag(spreadOver(nth, Math.min(count, 20))).name,
      payload: { enabled: nth % 2 === 0 },
    },
  });
  // Each tag that is added is removed later, so the flags have as many at the end as before.
  const tagOrUntagOf = (nth: number): BenchRequest => {
    const isAdded = nth % 2 === 0;
    const pair = Math.floor(nth / 2);
    const { name } = flagAt(isAdded ? pair : before(pair, tagsAhead, count));
    const tag = { type: 'simple', value: 'bench' };
    const tags = `/api/admin/features/${name}/tags`;
    if (isAdded) return { method: 'POST', path: tags, body: tag };
    return { method: 'DELETE', path: `${tags}/${tag.type}/${tag.value}` };
  };
  // Off and on again, so that each changes its flag: some are off meanwhile.
  const switchOf = (nth: number): BenchRequest => {
    const isSwitchedOff = nth % 2 === 0;
    const pair = Math.floor(nth / 2);
    const { feature } = patchedAt(isSwitchedOff ? pair : before(pair, switchesAhead, strategies.length));
    return {
      method: 'POST',
      path: `${project}/features/${feature}/environments/${environment}/${isSwitchedOff ? 'off' : 'on'}`,
    };
  };
  const tagOf = (nth: number): string => `${benchFlag(nth).tags[0]?.type}:${benchFlag(nth).tags[0]?.value}`;
  const pollOfAll = `/api/client/features?environment=${environment}`;
  const clientFeatures = (headers: Readonly<Record<string, string>>): BenchRequest => ({
    ...get(pollOfAll),
    headers: { ...sdk.server, ...headers },
  });
  const gzip = { 'accept-encoding': 'gzip' };
  let entityTag = '*';
  const all: readonly (readonly [string, (nth: number) => BenchRequest, (() => Promise<void>)?])[] = [
    ['GET feature', (nth) => get(`${project}/features/${flagAt(nth).name}`)],
    ['PATCH strategy', patchOf],
    ['search: first page', () => search('limit=50')],
    ['search: by type', (nth) => search(`type=IS:${benchFlag(nth).type}`)],
    ['search: by tag', (nth) => search(`tag=INCLUDE:${tagOf(nth)}`)],
    ['search: by text', (nth) => search(`query=${String(spreadOver(nth, count)).padStart(6, '0')}`)],
    ['search: last page', () => search(`offset=${Math.max(0, count - 50)}&limit=50&sortBy=name`)],
    ['POST change request', proposalOf],
    ['GET pending change requests', () => get(`${project}/change-requests/pending`)],
    ['POST and DELETE feature tag', tagOrUntagOf],
    ['POST environment off and on', switchOf],
    ['GET client features', () => clientFeatures({ 'accept-encoding': 'identity' })],
    ['GET client features, gzip', () => clientFeatures(gzip)],
    [
      'GET client features, unchanged',
      () => clientFeatures({ ...gzip, 'if-none-match': entityTag }),
      async () => void (entityTag = await sdk.entityTagOf(pollOfAll, gzip)),
    ],
    [
      'GET frontend',
      (nth) => ({ ...get(`/api/frontend?environment=${environment}&userId=${nth}`), headers: sdk.browser }),
    ],
    ['events: newest 100', () => events('limit=100')],
    ['events: by type', () => events('type=IS:feature-strategy-update&limit=50')],
    // Those whose strategies were patched have many events.
    ['events: by feature', (nth) => events(`feature=IS:${patchedAt(nth).feature}&limit=50`)],
    ['events: by text', (nth) => events(`query=${flagAt(nth).name}&limit=50`)],
  ];
  return all.map(([name, request, prepare]) => ({ name, request, ...(prepare && { prepare }) }));
}
