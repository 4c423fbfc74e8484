import type { ActionSet, SignalEndpoint } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseSettingOf } from '../../apps/all-in-one/src/database-setting.ts';
import { apiOf, projectRole, rootRole } from '../../apps/all-in-one/test/support/clients.ts';
import { withClient } from '../../libs/testing/src/test-postgres.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { type Fault, faults as platformFaults } from './faults.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

const timeoutMs = 600;
const leaseMs = 2_000;
const settings = {
  INTEGRATIONS_SECRET_KEY: 'the key of the tortured integrations',
  INTEGRATIONS_ALLOWED_HOSTS: '127.0.0.1',
  INTEGRATIONS_TIMEOUT_MS: String(timeoutMs),
  INTEGRATIONS_LEASE_MS: String(leaseMs),
  INTEGRATIONS_POLL_INTERVAL_MS: '200',
  INTEGRATIONS_RETRY_SECONDS: Array.from({ length: 20 }, () => '1').join(','),
  INTEGRATIONS_MAX_SIGNALS_PER_MINUTE: '6000',
};
const scale = { features: 1, 'change-requests': 1, audit: 1, integrations: 2, gateway: 2 };

/** A flag for each so many events, at least `minFlags`: the order is that of a flag. */
const eventsPerFlag = 800;
const minFlags = 6;
const project = '/api/admin/projects/default';
const signalled = 'signalled';
/** So many signals of an endpoint are kept. */
const maxSignals = 900;
const retryMs = 200;

/** How a destination behaves that does not accept everything, or what happens to it. */
const troubles = ['refused', 'slowed down', 'hung', 'closed', 'accepted and closed', 'late', 'never ended'] as const;
type Trouble = (typeof troubles)[number];

interface Accepted {
  readonly uid: string;
  readonly flag: string;
  /** what must be the same whenever the event is sent */
  readonly content: string;
}

/** Destinations of events on this machine. One accepts everything, one is in trouble now and then, and one is away for a while. */
async function startDestinations(random: SeededRandom, troubledShare: number) {
  const accepted = { steady: [] as Accepted[], troubled: [] as Accepted[], away: [] as Accepted[] };
  /** One after the other, so that a short run has all of them. */
  let upcoming: Trouble[] = [];
  const nextTrouble = (): Trouble => {
    if (upcoming.length === 0) upcoming = [...random.shuffled(troubles)];
    return upcoming.pop() as Trouble;
  };
  const counts = Object.fromEntries(troubles.map((trouble) => [trouble, 0])) as Record<Trouble, number>;
  let behaves = false;
  let isAway = false;
  let refusedWhileAway = 0;

  const beIn = (trouble: Trouble, response: ServerResponse, accept: () => void): void => {
    counts[trouble]++;
    if (trouble === 'refused') response.writeHead(503).end();
    else if (trouble === 'slowed down') response.writeHead(429, { 'retry-after': '1' }).end();
    else if (trouble === 'closed') response.socket?.destroy();
    else if (trouble === 'accepted and closed') {
      accept();
      response.socket?.destroy();
    } else if (trouble === 'late')
      setTimeout(() => {
        accept();
        response.writeHead(204).end();
      }, 2 * timeoutMs);
    else if (trouble === 'never ended') {
      accept();
      response.writeHead(200).write('…');
    }
  };

  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      const name = (request.url ?? '').slice(1) as keyof typeof accepted;
      const uid = String(request.headers['webhook-id']).replace('evt_', '');
      const { type, createdAt, featureName } = JSON.parse(body) as Record<string, string>;
      const accept = (): void =>
        void accepted[name].push({ uid, flag: featureName ?? '', content: `${type} ${createdAt} ${featureName}` });
      if (name === 'away' && isAway) {
        refusedWhileAway++;
        return void request.socket.destroy();
      }
      if (name === 'troubled' && !behaves && random.chance(troubledShare)) return beIn(nextTrouble(), response, accept);
      accept();
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted,
    counts: (): Readonly<Record<string, number>> => ({ ...counts, 'refused while away': refusedWhileAway }),
    behave: (): void => void (behaves = true),
    beAway: (next: boolean): void => void (isAway = next),
    stop: (): void => {
      server.closeAllConnections();
      server.close();
    },
  };
}
type Destinations = Awaited<ReturnType<typeof startDestinations>>;

/** Repeats a request until it has one of the statuses: a service may be away. */
async function until<T>(
  cluster: Cluster,
  method: string,
  address: string,
  body: unknown,
  statuses: readonly number[],
): Promise<T> {
  for (let nth = 0; ; nth++) {
    const api = apiOf(cluster.urls[nth % cluster.urls.length] as string, cluster.token);
    const response = await api<T>(method, address, body).catch(() => undefined);
    if (response !== undefined && statuses.includes(response.status)) return response.body;
    if (nth > 600) throw new Error(`${method} ${address} has returned ${response?.status}: ${response?.text}`);
    await sleep(retryMs);
  }
}

const rowsOf = <Row>({ postgres }: Cluster, service: 'audit' | 'integrations', text: string): Promise<Row[]> =>
  withClient(
    postgres.urlOf(databaseSettingOf(service).database),
    async (client) => (await client.query(text)).rows as Row[],
  );

/** Sends signals, one after the other, to an endpoint whose actions turn a flag on and off, and to one whose account may do nothing. */
async function startSignals(cluster: Cluster, random: SeededRandom) {
  const create = <T extends object>(address: string, body: object) =>
    until<T>(cluster, 'POST', `/api/admin/${address}`, body, [200, 201]);
  await create('projects/default/features', { name: signalled });
  const accountOf = (username: string) =>
    create<{ id: number }>('service-account', { username, rootRole: rootRole.viewer });
  const { id: robot } = await accountOf('robot');
  const { id: stranger } = await accountOf('stranger');
  await until(cluster, 'PUT', `${project}/users/${robot}/roles`, { roles: [projectRole.member] }, [200]);

  const startEndpoint = async (name: string, actorId: number) => {
    const { id } = await create<SignalEndpoint>('signal-endpoints', { name, enabled: true });
    const { token } = await create<{ token: string }>(`signal-endpoints/${id}/tokens`, { name: 'torture' });
    for (const to of ['ON', 'OFF'])
      await create<ActionSet>('projects/default/actions', {
        name: `${name} ${to}`,
        enabled: true,
        actorId,
        match: { source: 'signal-endpoint', sourceId: id, payload: { to: { operator: 'IN', values: [to] } } },
        actions: [
          {
            action: `TOGGLE_FEATURE_${to}`,
            executionParams: { featureName: signalled, environment: 'development' },
          },
        ],
      });
    return { id, name, token, accepted: [] as number[], sent: 0 };
  };
  const endpoints = [await startEndpoint('switch', robot), await startEndpoint('denied', stranger)];
  let isOver = false;
  let pauses = 0;
  /** signals that are being sent */
  let sending = 0;
  const sendAll = async (endpoint: (typeof endpoints)[number]): Promise<void> => {
    while (!isOver && endpoint.sent < maxSignals) {
      await sleep(random.fractional(50, 400));
      if (pauses > 0) continue;
      const nth = endpoint.sent++;
      sending++;
      const api = apiOf(random.pick(cluster.urls), `Bearer ${endpoint.token}`);
      const signal = { nth, to: nth % 2 === 0 ? 'ON' : 'OFF' };
      const response = await api('POST', `/api/signal-endpoint/${endpoint.name}`, signal).catch(() => undefined);
      sending--;
      if (response?.status === 202) endpoint.accepted.push(nth);
    }
  };
  const running = endpoints.map(sendAll);
  const settled = () =>
    eventually(
      async () => {
        if (sending > 0) throw new Error(`${sending} signals are being sent.`);
        const waiting = await rowsOf<{ id: number }>(
          cluster,
          'integrations',
          'select id from signal where processed_at is null',
        );
        if (waiting.length > 0) throw new Error(`${waiting.length} signals are not processed.`);
      },
      { timeoutMs: 300_000 },
    );
  return {
    endpoints,
    robot,
    /** Runs a job while no signal is sent or waits: what a restored database has lost of them is lost. */
    without: async (job: () => Promise<void>): Promise<void> => {
      pauses++;
      await settled();
      await job();
      pauses--;
    },
    stop: async (): Promise<void> => {
      isOver = true;
      await Promise.all(running);
    },
    settled,
  };
}
type Signals = Awaited<ReturnType<typeof startSignals>>;

/** The faults: those of the platform that concern deliveries, and those of this run. */
function faultsOf(destinations: Destinations, signals: Signals, outageMs: number): Fault[] {
  const named = [
    'integrations killed -9',
    'audit killed -9',
    'gateway killed -9',
    'features killed -9',
    'nats-server killed -9',
    'PostgreSQL crashed',
    'a process cut off from NATS',
    'a process cut off from PostgreSQL',
    'a process frozen',
  ];
  const always = (name: string, job: (cluster: Cluster, random: SeededRandom) => Promise<void>): Fault => ({
    name,
    target: 'integrations',
    inject: async (cluster, random) => {
      await job(cluster, random);
      return true;
    },
  });
  const restored = (service: 'audit' | 'integrations') =>
    always(`the database of ${service} restored to an older copy`, (cluster, random) =>
      signals.without(() => cluster.restore(service, random.fractional(1_000, 4_000))),
    );
  return [
    ...platformFaults.filter(({ name }) => named.includes(name)),
    always('integrations frozen for longer than its lease', async (cluster, random) => {
      const victim = random.pick(cluster.processesOf('integrations'));
      victim.pause();
      await sleep(leaseMs + 1_000);
      victim.resume();
    }),
    always('all of integrations killed -9', async (cluster) => {
      const all = cluster.processesOf('integrations');
      await Promise.all(all.map((one) => one.kill()));
      await Promise.all(all.map((one) => one.start()));
    }),
    always('a destination away', async () => {
      destinations.beAway(true);
      await sleep(outageMs);
      destinations.beAway(false);
    }),
    restored('integrations'),
    restored('audit'),
  ];
}

interface LoggedEvent {
  readonly uid: string;
  readonly flag: string;
}

/** What a destination was promised and did not get: every event, in the order of the log for each flag, each with its own id. */
function violationsAt(name: string, accepted: readonly Accepted[], log: readonly LoggedEvent[]): string[] {
  const contents = new Map<string, string>();
  const violations: string[] = [];
  const firstTimes = new Map<string, string[]>();
  for (const { uid, flag, content } of accepted) {
    const known = contents.get(uid);
    if (known !== undefined && known !== content) violations.push(`${name} got ${uid} as ${known} and as ${content}.`);
    if (known !== undefined) continue;
    contents.set(uid, content);
    const ofFlag = firstTimes.get(flag) ?? [];
    firstTimes.set(flag, ofFlag);
    ofFlag.push(uid);
  }
  const logged = Map.groupBy(log, ({ flag }) => flag);
  for (const flag of new Set([...logged.keys(), ...firstTimes.keys()])) {
    const expected = (logged.get(flag) ?? []).map(({ uid }) => uid);
    const got = firstTimes.get(flag) ?? [];
    const at = expected.findIndex((uid, nth) => got[nth] !== uid);
    if (at >= 0 || got.length !== expected.length)
      violations.push(
        `${name} got ${got.length} of ${expected.length} events of ${flag}; the first difference is at ${at}: ${expected[at]} and ${got[at]}.`,
      );
  }
  return violations;
}

/** What of the promises to senders of signals was broken: each is acted on once, or has visibly failed. */
async function violationsOfSignals(cluster: Cluster, { endpoints, robot }: Signals) {
  interface Row {
    readonly id: number;
    readonly endpoint: number;
    readonly nth: number;
    readonly to: string;
    readonly states: readonly string[];
  }
  const rows = await rowsOf<Row>(
    cluster,
    'integrations',
    `select id::int, endpoint_id as endpoint, (payload ->> 'nth')::int as nth, payload ->> 'to' as to,
       array(select state from action_run r where r.signal_id = s.id) as states from signal s order by s.id`,
  );
  const reports = await rowsOf<{ signal: number; type: string }>(
    cluster,
    'audit',
    `select (data ->> 'signalId')::int as signal, type from event where type like 'actions-run-%' order by id`,
  );
  const reportsOf = Map.groupBy(reports, ({ signal }) => signal);
  const violations = rows.flatMap(({ id, states }) => {
    const expected = `actions-run-${states[0] === 'success' ? 'succeeded' : 'failed'}`;
    const reported = (reportsOf.get(id) ?? []).map(({ type }) => type);
    const isRight = states.length === 1 && states[0] !== 'started' && reported.join() === expected;
    return isRight ? [] : [`Signal ${id} has the runs [${states.join()}] and the events [${reported.join()}].`];
  });
  for (const { id, name, accepted } of endpoints) {
    const stored = rows.filter(({ endpoint }) => endpoint === id).map(({ nth }) => nth);
    if (new Set(stored).size !== stored.length) violations.push(`${name} has signals twice.`);
    const lost = accepted.filter((nth) => !stored.includes(nth));
    if (lost.length > 0) violations.push(`${name} has lost the accepted signals ${lost.join()}.`);
  }
  // Each signal was acted on once and in order, if the flag was switched as by one after the other.
  const acted = rows.filter(({ endpoint, states }) => endpoint === endpoints[0]?.id && states[0] === 'success');
  const expected = acted.map(({ to }) => to).filter((to, nth, all) => to !== (all[nth - 1] ?? 'OFF'));
  const switched = await rowsOf<{ to: string }>(
    cluster,
    'audit',
    `select case type when 'feature-environment-enabled' then 'ON' else 'OFF' end as to from event
     where feature_name = '${signalled}' and created_by_user_id = ${robot}
       and type in ('feature-environment-enabled', 'feature-environment-disabled') order by id`,
  );
  if (switched.map(({ to }) => to).join() !== expected.join())
    violations.push(`The flag was switched ${switched.length} times by ${expected.length} alternating signals.`);
  const denied = rows.filter(({ endpoint, states }) => endpoint === endpoints[1]?.id && states[0] !== 'failed');
  if (denied.length > 0) violations.push(`${denied.length} signals acted without the right to.`);
  return { signals: rows.length, acted: acted.length, violations };
}

export interface IntegrationsReport {
  /** how many events the log has of those that were to be delivered, and how many more deliveries came than there are of them */
  readonly events: number;
  readonly duplicates: Readonly<Record<string, number>>;
  /** how often destinations misbehaved, by how they did */
  readonly troubles: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly signals: number;
  /** how many of the signals were acted on; the others have visibly failed */
  readonly acted: number;
  readonly violations: readonly string[];
}

interface Options {
  readonly folder: string;
  readonly seed: number;
  /** how many events are to be delivered, at least */
  readonly events: number;
  /** the share of deliveries that the destination in trouble does not simply accept */
  readonly troubledShare: number;
  /** how long a destination is away */
  readonly outageMs?: number;
  /** the names of the faults to inject; all of them by default */
  readonly faults?: readonly string[];
  readonly log?: (line: string) => void;
}

/**
 * Switches flags and sends signals while services are killed, frozen, cut off and restored and destinations fail, and verifies that three
 * destinations get every event in order, and that every signal is acted on once.
 */
export async function tortureIntegrations(options: Options): Promise<IntegrationsReport> {
  const { folder, seed, events: wanted, troubledShare, outageMs = 12_000, log = () => undefined } = options;
  const random = seededRandom(seed);
  const destinations = await startDestinations(random.derive('destinations'), troubledShare);
  const cluster = await startCluster({ folder, scale, random, settings, log });
  try {
    const names = Array.from(
      { length: Math.max(minFlags, Math.round(wanted / eventsPerFlag)) },
      (_, nth) => `tortured-${nth}`,
    );
    for (const name of names) await until(cluster, 'POST', `${project}/features`, { name }, [201, 409]);
    for (const name of Object.keys(destinations.accepted))
      await until(
        cluster,
        'POST',
        '/api/admin/addons',
        {
          provider: 'webhook',
          enabled: true,
          parameters: { url: `${destinations.url}/${name}` },
          events: ['feature-environment-enabled', 'feature-environment-disabled'],
        },
        [201],
      );
    const signals = await startSignals(cluster, random.derive('signals'));

    let written = 0;
    let rounds = 0;
    /** Turns every flag on, or off again. */
    const switchAll = async (): Promise<void> => {
      const address = `${project}/bulk_features/environments/development/${rounds++ % 2 === 0 ? 'on' : 'off'}`;
      await until(cluster, 'POST', address, { features: names }, [200]);
      written += names.length;
    };
    const write = async (): Promise<void> => {
      while (written < wanted) await switchAll();
    };
    const writing = write();
    writing.catch(() => undefined);
    const injected: Record<string, number> = {};
    const faultRandom = random.derive('faults');
    const faults = faultsOf(destinations, signals, outageMs).filter(
      ({ name }) => options.faults?.includes(name) ?? true,
    );
    for (let round = 0; round === 0 || written < wanted; round++)
      for (const fault of faultRandom.shuffled(faults)) {
        if (round > 0 && written >= wanted) break;
        await sleep(faultRandom.fractional(200, 1_500));
        // Once there are enough events, each fault that is left meets some more.
        if (written >= wanted) await switchAll();
        if (await fault.inject(cluster, faultRandom)) injected[fault.name] = (injected[fault.name] ?? 0) + 1;
        log(`${fault.name}; ${written} of ${wanted} events are written`);
      }
    await writing;
    await signals.stop();
    destinations.behave();
    log('the writers have stopped');
    await signals.settled();

    // A search waits for the events of every producer.
    await eventually(
      async () => {
        const api = apiOf(cluster.urls[0] as string, cluster.token);
        const { status, headers } = await api('GET', '/api/admin/search/events?limit=1');
        if (status !== 200 || headers.get('bunting-stale') !== null) throw new Error('The log is not fresh.');
      },
      { timeoutMs: 120_000 },
    );
    const logged = await rowsOf<LoggedEvent>(
      cluster,
      'audit',
      `select uid, feature_name as flag from event
       where type in ('feature-environment-enabled', 'feature-environment-disabled') order by id`,
    );
    const missingAt = (accepted: readonly Accepted[]): number =>
      logged.length - new Set(accepted.map(({ uid }) => uid)).size;
    const all = Object.entries(destinations.accepted);
    let reported = 0;
    // What is missing afterwards is a violation.
    await eventually(
      () => {
        const missing = all.map(([name, accepted]) => [name, missingAt(accepted)] as const);
        if (performance.now() - reported > 10_000) {
          reported = performance.now();
          log(missing.map(([name, count]) => `${name} waits for ${count}`).join(', '));
        }
        if (missing.some(([, count]) => count > 0)) throw new Error('Events are missing.');
      },
      { timeoutMs: 120_000 + wanted * 10 },
    ).catch(() => undefined);
    const ofSignals = await violationsOfSignals(cluster, signals);
    return {
      events: logged.length,
      duplicates: Object.fromEntries(
        all.map(([name, accepted]) => [name, accepted.length - new Set(accepted.map(({ uid }) => uid)).size]),
      ),
      troubles: destinations.counts(),
      faults: injected,
      signals: ofSignals.signals,
      acted: ofSignals.acted,
      violations: [...all.flatMap(([name, accepted]) => violationsAt(name, accepted, logged)), ...ofSignals.violations],
    };
  } finally {
    await cluster.stop();
    destinations.stop();
  }
}
