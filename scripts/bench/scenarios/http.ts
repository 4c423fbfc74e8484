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

const aloneTimes = 30;
const secondsWhileProjecting = 10;

/** Measures operations of the REST API. @returns the figures; undefined with `whileProjecting` */
export function benchHttp(options: BenchOptions): Promise<unknown> {
  const { features = 1_000, seed, only } = options;
  return withServers(options, async (servers) => {
    for (const server of servers) if (seed !== undefined) await seedFlags(server, { count: features, how: seed });
    const [server] = servers;
    console.log(`${server.residentMb() ?? '–'} MB resident`);
    const operations = await Promise.all(
      servers.map(async (one) => operationsOf(features, await strategiesOf(one, features, 200))),
    );
    if (options.whileProjecting) return benchWhileProjecting(server, features, operations[0] ?? [], options);
    printHead();
    const rows = [];
    const alone: [string, number][] = [];
    for (const [nth, { name }] of (operations[0] ?? []).entries()) {
      if (!name.includes(only)) continue;
      const ofServers = operations.map((list) => list[nth] as Measured);
      alone.push([name, await medianAlone(server, ofServers[0] as Measured)]);
      rows.push(...(await measure(servers, ofServers, options)));
    }
    printTableHead('operation', 'alone, p50 ms');
    for (const [name, ms] of alone) printRow(name, ms.toFixed(1));
    console.log(`\n${server.residentMb() ?? '–'} MB resident at the end`);
    return { date: new Date().toISOString(), features, rows, alone };
  });
}

/** The median duration in milliseconds of an operation's requests, sent one after the other. */
async function medianAlone(target: ServerUnderTest, { request }: Measured): Promise<number> {
  const durations: number[] = [];
  for (let nth = 0; nth < aloneTimes; nth++) {
    const { method, path, body } = request(nth * 31 + 7);
    durations.push((await send(target, method, path, body).catch(() => ({ tookMs: Number.NaN }))).tookMs);
  }
  return percentile(durations, 0.5);
}

/** Measures GET feature at rest, and in the seconds after an import, while search and the event log apply the imported flags. */
async function benchWhileProjecting(
  target: ServerUnderTest,
  count: number,
  operations: readonly Measured[],
  { connections }: BenchOptions,
): Promise<void> {
  const get = operations.find(({ name }) => name === 'GET feature') as Measured;
  const rateIn = async (seconds: number): Promise<number> => {
    const { requests, milliseconds } = await generateLoad(target, get, { connections, seconds });
    return Math.round((requests * 1_000) / milliseconds);
  };
  await waitUntilSettled(target);
  await rateIn(2);
  const atRest = await rateIn(5);
  console.log(`GET feature at rest: ${atRest} requests/s`);
  await seedFlags(target, { count, first: count });
  printTableHead('second after the import', 'GET feature, requests/s', 'share of at rest');
  for (let second = 1; second <= secondsWhileProjecting; second++) {
    const rate = await rateIn(1);
    printRow(second, rate, `${Math.round((100 * rate) / atRest)} %`);
  }
}

const project = '/api/admin/projects/default';
function get(path: string): BenchRequest {
  return { method: 'GET', path };
}
function search(query: string): BenchRequest {
  return get(`/api/admin/search/features?${query}`);
}
function events(body: unknown): BenchRequest {
  return { method: 'POST', path: '/api/admin/events/search', body };
}

/** The seven operations of the interface, several kinds of searches, and the polls of SDKs. */
export function operationsOf(
  count: number,
  strategies: readonly { readonly feature: string; readonly id: string }[],
): readonly Measured[] {
  const flagAt = (nth: number) => benchFlag(spreadOver(nth, count));
  const patchOf = (nth: number): BenchRequest => {
    const { feature, id } = strategies[spreadOver(nth, strategies.length)] ?? { feature: '', id: '' };
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
  const untagOf = (nth: number): BenchRequest => {
    const { name, tags } = flagAt(nth);
    const tag = tags[Math.floor(nth / count) % 2];
    return { method: 'DELETE', path: `/api/admin/features/${name}/tags/${tag?.type}/${tag?.value}` };
  };
  const tagOf = (nth: number): string => `${benchFlag(nth).tags[0]?.type}:${benchFlag(nth).tags[0]?.value}`;
  const clientFeatures = get(`/api/client/features?environment=${environment}`);
  const unchanged = { ...clientFeatures, headers: { 'if-none-match': '*' } };
  const all: readonly (readonly [string, (nth: number) => BenchRequest])[] = [
    ['GET feature', (nth) => get(`${project}/features/${flagAt(nth).name}`)],
    ['PATCH strategy', patchOf],
    ['search: first page', () => search('limit=50')],
    ['search: by type', (nth) => search(`type=IS:${benchFlag(nth).type}`)],
    ['search: by tag', (nth) => search(`tag=INCLUDE:${tagOf(nth)}`)],
    ['search: by text', (nth) => search(`query=${String(spreadOver(nth, count)).padStart(6, '0')}`)],
    ['search: last page', () => search(`offset=${Math.max(0, count - 50)}&limit=50&sortBy=name`)],
    ['POST change request', proposalOf],
    ['GET pending change requests', () => get(`${project}/change-requests/pending`)],
    ['DELETE feature tag', untagOf],
    ['GET client features', () => clientFeatures],
    ['GET client features, unchanged', () => unchanged],
    ['GET frontend', (nth) => get(`/api/frontend?environment=${environment}&userId=${nth}`)],
    ['events: by type', () => events({ type: 'feature-strategy-update' })],
    ['events: by feature', (nth) => events({ feature: flagAt(nth).name })],
    ['events: by text', (nth) => events({ query: flagAt(nth).name })],
  ];
  return all.map(([name, request]) => ({ name, request }));
}
