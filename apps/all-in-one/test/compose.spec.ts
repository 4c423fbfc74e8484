import { calledServices } from '@bunting/contracts';
import { configOf, type HostOptions, host, HostConfig, keysOf, openLog, type RunningHost } from '@bunting/runtime';
import {
  eventually,
  findNatsServer,
  freePort,
  overTcp,
  startNats,
  startTestPostgres,
  type TestNats,
  withClient,
} from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { services } from '../src/services.ts';
import { type Api, apiOf } from './api.ts';
import { repository } from './program.ts';

interface Container {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly networks: readonly string[];
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly user?: string;
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly pids_limit?: number;
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
  readonly deploy?: { readonly resources: { readonly limits: { readonly memory: string; readonly cpus: string } } };
}
interface Compose {
  readonly services: Readonly<Record<string, Container>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const read = (file: string): string => readFileSync(path.join(repository, file), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
/** The container in which operators run commands of the repository. */
const commandContainer = (): Container => {
  const { services: added } = parse(read('docker/tools.yml')) as Compose;
  expect(Object.keys(added)).toEqual(['tools']);
  return added['tools'] as Container;
};
const names = services.map(({ name }) => name);

let folder = '';
const secretsFolder = (): string => path.join(folder, 'secrets');
const secret = (name: string): string => readFileSync(path.join(secretsFolder(), name), 'utf8').trim();
const runSetup = (environment: Readonly<Record<string, string>> = {}): string =>
  execFileSync('sh', ['docker/setup.sh'], {
    cwd: repository,
    encoding: 'utf8',
    env: { ...process.env, BUNTING_SECRETS: secretsFolder(), ...environment },
  });

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'bunting-compose-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the compose file', () => {
  it('gives each service settings that it reads and secrets from files only', () => {
    const known = new Set(keysOf(HostConfig));
    for (const service of services) {
      const own = new Set(keysOf(configOf(service)));
      const { environment = {}, secrets = [] } = compose.services[service.name] as Container;
      const unknown = Object.keys(environment).filter((key) => !own.has(key) && !known.has(key));
      expect({ service: service.name, unknown }).toEqual({ service: service.name, unknown: [] });
      for (const [key, value] of Object.entries(environment)) {
        if (!key.endsWith('_FILE') || value === `\${${key}:-}`) continue;
        expect(secrets.map((name) => `/run/secrets/${name}`)).toContain(value);
      }
    }
    for (const container of Object.values(compose.services))
      for (const name of container.secrets ?? []) expect(Object.keys(compose.secrets)).toContain(name);
    expect(JSON.stringify(compose.services)).not.toMatch(/(?:PASSWORD|KEY|ADMIN_TOKEN)":"[^"/]/);
  });

  it('passes every setting that a service reads on to it from `.env`, secrets by their files, and none to another service', () => {
    /** Decided by the compose file: the addresses of its own servers, the ports within containers, and a folder of the image. */
    const decided = /^(?:BUS_\w+|\w+_OPS_PORT|\w+_DATABASE_URL|MEILI_URL|PORT|GATEWAY_HOST|GATEWAY_CONSOLE_DIR)$/;
    for (const service of services) {
      const { environment = {}, volumes = [] } = compose.services[service.name] as Container;
      const schemas = [HostConfig, configOf(service)];
      const lost = schemas
        .flatMap(({ properties }) => Object.keys(properties))
        .filter((key) => {
          const [plain, file] = [environment[key], environment[`${key}_FILE`]].map(String);
          const isPassed = plain?.startsWith(`\${${key}:-`) === true || file === `\${${key}_FILE:-}`;
          return !decided.test(key) && !isPassed && file?.startsWith('/run/secrets/') !== true;
        });
      expect({ service: service.name, lost }).toEqual({ service: service.name, lost: [] });
      expect(volumes).toEqual([`./docker/secrets/${service.name}:/run/secrets/${service.name}:ro`]);
    }
  });

  it('runs every container read-only, without capabilities, with limits and with rotated logs', () => {
    for (const [name, container] of Object.entries(compose.services)) {
      const { read_only: isReadOnly, cap_drop: dropped, security_opt: options, pids_limit: pids, logging } = container;
      expect({ name, isReadOnly, dropped, options, pids, log: Object.keys(logging?.options ?? {}) }).toEqual({
        name,
        isReadOnly: true,
        dropped: ['ALL'],
        options: ['no-new-privileges:true'],
        pids: expect.any(Number),
        log: ['max-size', 'max-file'],
      });
      expect(Object.keys(container.deploy?.resources.limits ?? {}).sort()).toEqual(['cpus', 'memory']);
    }
  });

  it('lets each service reach PostgreSQL, NATS and no other service, and publishes the gateway and the balancer alone', () => {
    const neighbours = (name: string): string[] =>
      Object.entries(compose.services)
        .filter(
          ([other, { networks }]) =>
            other !== name && networks.some((one) => compose.services[name]?.networks.includes(one)),
        )
        .map(([other]) => other)
        .sort();
    expect(Object.fromEntries(names.map((name) => [name, neighbours(name)]))).toEqual({
      features: ['nats', 'postgres'],
      'change-requests': ['nats', 'postgres'],
      audit: ['nats', 'postgres'],
      search: ['meilisearch', 'nats', 'postgres'],
      gateway: ['balancer', 'nats', 'postgres', 'roles'],
    });
    const open = Object.entries(compose.networks).filter(([, network]) => network?.internal !== true);
    expect(open.map(([name]) => name)).toEqual(['front']);
    const published = Object.entries(compose.services).filter(([, { ports = [] }]) => ports.length > 0);
    expect(published.map(([name]) => name)).toEqual(['gateway', 'balancer']);
  });

  it('adds a collector of spans, hardened like every container, that each service reaches and that is given the address of a backend', () => {
    const { services: added } = parse(read('docker/tracing.yml'), { merge: true }) as Compose;
    const { collector, ...traced } = added;
    expect(Object.keys(traced).sort()).toEqual([...names].sort());
    const endpoints = new Set(
      Object.values(traced).map(({ environment }) => environment?.['OTEL_EXPORTER_OTLP_ENDPOINT']),
    );
    const config = parse(read('docker/collector.yml')) as {
      receivers: { otlp: { protocols: { http: { endpoint: string } } } };
      exporters: { otlphttp: { endpoint: string } };
    };
    const port = config.receivers.otlp.protocols.http.endpoint.split(':')[1];
    expect([...endpoints]).toEqual([`http://collector:${port}`]);
    const [, variable] = /^\$\{env:(\w+)\}$/.exec(config.exporters.otlphttp.endpoint) ?? [];
    expect(Object.keys(collector?.environment ?? {})).toEqual([variable]);
    const { features } = compose.services;
    for (const key of ['read_only', 'cap_drop', 'security_opt', 'pids_limit', 'logging'] as const)
      expect([key, collector?.[key]]).toEqual([key, features?.[key]]);
    expect(Object.keys(collector?.deploy?.resources.limits ?? {}).sort()).toEqual(['cpus', 'memory']);
    for (const name of names)
      expect(compose.services[name]?.networks.some((network) => collector?.networks.includes(network))).toBe(true);
  });

  it('runs commands in a container that reaches every database, NATS and service, and is hardened like every other', () => {
    const tools = commandContainer();
    expect([...tools.networks].sort()).toEqual([...names].sort());
    expect(compose.services['meilisearch']?.networks.some((network) => tools.networks.includes(network))).toBe(true);
    const mounted = (tools.secrets ?? []).map((name) => `/run/secrets/${name}`);
    const files = Object.values(tools.environment ?? {}).filter((value) => String(value).startsWith('/run/secrets/'));
    expect([...files].sort()).toEqual([...mounted].sort());
    for (const name of tools.secrets ?? []) expect(compose.secrets).toHaveProperty([name]);
    const { features } = compose.services;
    for (const key of ['read_only', 'cap_drop', 'security_opt', 'pids_limit', 'logging'] as const)
      expect([key, tools[key]]).toEqual([key, features?.[key]]);
    expect(tools.image).toMatch(/^node:24\.\d+\.\d+-/);
  });

  it('names a complete version of each image that it does not build', () => {
    for (const [name, { image }] of Object.entries(compose.services))
      if (!names.includes(name as never))
        expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-[a-z]+)?(@sha256:[0-9a-f]{64})?$/);
  });

  it('takes from the file for production only variables that it uses', () => {
    const used = new Set([...read('docker-compose.yml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name));
    const given = [...read('docker/production.env').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name ?? '');
    expect(given.filter((name) => !used.has(name) && name !== 'COMPOSE_PROFILES')).toEqual([]);
  });
});

describe('the image', () => {
  const dockerfile = read('docker/Dockerfile');

  it('installs packages from the manifest of every workspace before any code is copied', () => {
    const manifests = execFileSync('git', ['ls-files', 'apps/*/package.json', 'libs/*/package.json'], {
      cwd: repository,
      encoding: 'utf8',
    });
    for (const manifest of manifests.trim().split('\n'))
      expect(dockerfile).toContain(`COPY ${manifest} ${path.dirname(manifest)}/\n`);
  });

  it('is healthy exactly while the service is ready, by a probe that starts no Node.js', async () => {
    const probe = /CMD (\["bash".*\])$/m.exec(dockerfile)?.[1] ?? '[]';
    const port = await freePort();
    const [, ...args] = (JSON.parse(probe) as string[]).map((part) => part.replace('9090', String(port)));
    let status = 200;
    const server = createServer((_, response) => response.writeHead(status).end()).listen(port, '127.0.0.1');
    const run = () => new Promise<number | null>((resolve) => spawn('bash', args).once('exit', resolve));
    try {
      await eventually(() => expect(server.listening).toBe(true));
      expect(await run()).toBe(0);
      status = 503;
      expect(await run()).not.toBe(0);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    expect(await run()).not.toBe(0);
  });
});

describe('docker/setup.sh', () => {
  it('creates each secret once, for its owner alone, and a certificate that HAProxy accepts', () => {
    runSetup();
    const before = secret('features_nats_password');
    runSetup();
    expect(secret('features_nats_password')).toBe(before);
    expect(statSync(secretsFolder()).mode & 0o777).toBe(0o700);
    expect(readdirSync(secretsFolder()).sort()).toEqual([...Object.keys(compose.secrets), ...names].sort());
    expect(secret('nats_passwords')).toContain(`FEATURES_NATS_PASSWORD: "${before}"`);

    const haproxy = spawnSync('haproxy', ['-v'], { encoding: 'utf8' });
    if (haproxy.status !== 0) return console.warn('haproxy is not installed: docker/haproxy.cfg is not checked.');
    const config = path.join(folder, 'haproxy.cfg');
    writeFileSync(
      config,
      read('docker/haproxy.cfg').replace(
        '/run/secrets/balancer_certificate',
        `${secretsFolder()}/balancer_certificate`,
      ),
    );
    const checked = spawnSync('haproxy', ['-c', '-f', config], { encoding: 'utf8' });
    expect({ status: checked.status, errors: checked.stderr.match(/\[ALERT\].*/g) ?? [] }).toEqual({
      status: 0,
      errors: [],
    });
  });
});

describe('the platform with the users and rights of the compose file', () => {
  let nats: TestNats;
  let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
  const hosts: RunningHost[] = [];
  const lines: string[] = [];
  const monitoringPorts = new Map<string, number>();
  const firstAdmin = { username: 'admin@example.org', password: 'Fjord-7-lantern-harbour' };
  /** what `.env` has */
  const variables = {
    INIT_ADMIN_EMAIL: firstAdmin.username,
    INIT_ADMIN_PASSWORD_FILE: '/run/secrets/gateway/init_admin_password',
    GATEWAY_BEHIND_TLS: 'true',
    // The primary, which is no replica: it is not used, and its metrics say so.
    FEATURES_READ_DATABASE_URL_FILE: '/run/secrets/features_database_url',
  };
  let api: Api;

  /** The environment of a container for an `.env` with these variables, with the addresses of this machine. */
  const environmentOf = (
    { environment = {} }: Container,
    given: Readonly<Record<string, string>>,
  ): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [
        key,
        String(value)
          .replace(/\$\{([A-Z_]+):-([^}]*)\}/, (_, variable: string, fallback: string) => given[variable] ?? fallback)
          .replace('/run/secrets/', `${secretsFolder()}/`)
          .replace('nats:4222', `127.0.0.1:${nats.port}`),
      ]),
    );
  /** The settings of a container of the compose file. */
  const settingsOf = async (
    name: string,
    given: Readonly<Record<string, string>>,
  ): Promise<NonNullable<HostOptions['environment']>> => {
    const port = await freePort();
    monitoringPorts.set(name, port);
    return {
      ...environmentOf(compose.services[name] as Container, given),
      [`${name.toUpperCase().replaceAll('-', '_')}_OPS_PORT`]: String(port),
      NODE_ENV: 'production',
      DRAIN_DELAY_MS: '0',
      LOG_LEVEL: 'warn',
      // No server answers there; PostgreSQL answers searches.
      ...(name === 'search' ? { MEILI_URL: 'http://127.0.0.1:1' } : {}),
      ...(name === 'gateway' ? { PORT: '0', GATEWAY_HOST: '127.0.0.1' } : {}),
    };
  };

  /** Creates the roles as the container `roles` does: with psql where it is installed, otherwise with the same SQL. */
  const createRoles = async (): Promise<void> => {
    const { hostname, port, username, password } = new URL(overTcp(postgres.url));
    const options = secret('postgres_roles');
    const withPsql = spawnSync('sh', ['docker/postgres/roles.sh'], {
      cwd: repository,
      encoding: 'utf8',
      env: {
        ...process.env,
        PGHOST: hostname,
        PGPORT: port,
        PGUSER: username,
        PGPASSWORD: password,
        PGOPTIONS_FILE: path.join(secretsFolder(), 'postgres_roles'),
      },
    });
    if (withPsql.status === 0) return;
    if (!/psql: (?:command )?not found/.test(withPsql.stderr)) throw new Error(withPsql.stderr);
    const roles = read('docker/postgres/roles.sql');
    const url = `${postgres.url}?options=${encodeURIComponent(options)}`;
    await withClient(url, async (client) => {
      await client.query(roles);
      const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
      for (const name of names) {
        const database = `bunting_${name.replaceAll('-', '_')}`;
        if (!rows.some(({ datname }) => datname === database))
          await client.query(`create database ${database} owner ${database}`);
      }
      await client.query(roles);
    });
  };

  beforeAll(async () => {
    rmSync(secretsFolder(), { recursive: true, force: true });
    postgres = await startTestPostgres(`bunting-test-compose-${process.pid}`);
    runSetup({ POSTGRES_ADDRESS: new URL(overTcp(postgres.url)).host });
    nats = await startNats({
      config: `${secret('nats_passwords')}\n${read('docker/nats.conf').replace(/^[^]*?(?=^accounts)/m, '')}`,
    });
    // Outside of a container, a service refuses a secret that other users can read.
    writeFileSync(path.join(secretsFolder(), 'gateway', 'init_admin_password'), `${firstAdmin.password}\n`);
    for (const file of readdirSync(secretsFolder(), { recursive: true, withFileTypes: true }))
      if (file.isFile()) chmodSync(path.join(file.parentPath, file.name), 0o400);
    await createRoles();
    await createRoles();
    const log = openLog('warn', { write: (line) => void lines.push(line) });
    for (const service of services)
      hosts.push(await host([service], { environment: await settingsOf(service.name, variables), log }));
    api = apiOf(hosts.at(-1)?.services.get('gateway')?.address ?? '', secret('admin_token'));
  }, 120_000);
  afterAll(async () => {
    for (const hosted of hosts.toReversed()) await hosted.stop();
    await nats?.stop();
    await postgres?.stop();
  }, 60_000);

  it('gives the gateway the settings of `.env`, with which the first administrator signs in', async () => {
    const signedIn = await api('POST', '/auth/simple/login', firstAdmin, { authorization: null });
    expect([signedIn.status, signedIn.headers.get('set-cookie')]).toEqual([200, expect.stringMatching(/; Secure/)]);
  });

  it('creates, changes, finds and records features, and applies change requests', async () => {
    expect((await api('POST', '/api/admin/projects', { id: 'shop', name: 'Shop' })).status).toBe(201);
    expect((await api('POST', '/api/admin/projects/shop/features', { name: 'shop-new' })).status).toBe(201);
    expect((await api('POST', '/api/admin/features/shop-new/tags', { type: 'simple', value: 'blue' })).status).toBe(
      201,
    );
    const found = await api<{ total: number }>(
      'GET',
      '/api/admin/search/features?project=IS:shop&tag=INCLUDE:simple:blue',
    );
    expect([found.status, found.body.total]).toEqual([200, 1]);
    const on = '/api/admin/projects/shop/features/shop-new/environments/development/on';
    expect((await api('POST', on)).status).toBe(200);
    const events = await api<{ events: { type: string }[] }>('GET', '/api/admin/events/shop-new');
    expect(events.body.events.map(({ type }) => type)).toContain('feature-environment-enabled');
    const changes = '/api/admin/projects/shop/environments/development/change-requests';
    const proposed = await api<{ id: number }[]>('POST', changes, {
      feature: 'shop-new',
      action: 'updateEnabled',
      payload: { enabled: false },
    });
    expect([proposed.status, proposed.text]).toEqual([200, expect.stringContaining('"updateEnabled"')]);
    expect((await api('GET', '/api/admin/events/dead-letters')).body).toMatchObject({ unanswered: [] });
    await eventually(async () => {
      const messages = await Promise.all(
        [...monitoringPorts].map(async ([name, port]) => {
          const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
          return [name, /^bunting_outbox_unpublished_events\{[^}]*\} (\d+)$/m.exec(text)?.[1] ?? '-'];
        }),
      );
      expect(Object.fromEntries(messages)).toEqual({
        features: '0',
        'change-requests': '0',
        gateway: '0',
        audit: '-',
        search: '-',
      });
    });
    expect(lines.filter((line) => /permission|violation/i.test(line))).toEqual([]);
  });

  it('exports every metric, with every label, that the dashboard, the alerts and the documents name', async () => {
    const texts = await Promise.all(
      [...monitoringPorts.values()].map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
    );
    const exported = new Set([...texts.join('\n').matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name));
    const metricOf = (name: string): string => (exported.has(name) ? name : name.replace(/_(?:bucket|count|sum)$/, ''));
    const metricsIn = (text: string): string[] =>
      [...text.matchAll(/\b(?:bunting|http_request|nodejs|process)_\w+(?:seconds|bytes|total|\w)\b/g)].map(([name]) =>
        metricOf(name),
      );
    const named = ['deploy/alerts/bunting.rules.yaml', 'deploy/dashboards/bunting.json', 'docs/operations.md'].flatMap(
      (file) => metricsIn(read(file)),
    );
    expect(named.length).toBeGreaterThan(50);
    const isDatabase = (name: string): boolean =>
      /^bunting_(?:features|change_requests|audit|search|gateway)$/.test(name);
    expect([...new Set(named)].filter((name) => !exported.has(name) && !isDatabase(name))).toEqual([]);
    const documented = new Set(metricsIn(read('docs/operations.md')));
    expect([...exported].filter((name) => name.startsWith('bunting_') && !documented.has(name))).toEqual([]);

    /** The labels of each metric that has a value. A counter with labels has none before it is counted. */
    const labels = new Map<string, Set<string>>();
    for (const [, name = '', text = ''] of texts.join('\n').matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
      // Prometheus adds these.
      const found = labels.get(metricOf(name)) ?? new Set(['job', 'instance']);
      labels.set(metricOf(name), found);
      for (const [, label = ''] of text.matchAll(/(\w+)="/g)) found.add(label);
    }
    expect(labels.size).toBeGreaterThan(40);
    const { panels } = JSON.parse(read('deploy/dashboards/bunting.json')) as {
      panels: { targets: { expr: string; legendFormat: string }[] }[];
    };
    const { groups } = parse(read('deploy/alerts/bunting.rules.yaml')) as { groups: { rules: { expr: string }[] }[] };
    const expressions = [
      ...panels.flatMap(({ targets }) => targets.map((target) => [target.expr, target.legendFormat] as const)),
      ...groups.flatMap(({ rules }) => rules.map(({ expr }) => [expr, ''] as const)),
    ];
    const wrong = expressions.flatMap(([expression, legend]) => {
      const wanted = [
        ...[...expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */)),
        ...[...expression.matchAll(/[{,] *(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
        ...[...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
      ];
      const metrics = metricsIn(expression);
      if (metrics.length === 0 || !metrics.every((name) => labels.has(name))) return [];
      const own = metrics.flatMap((name) => [...(labels.get(name) ?? [])]);
      return wanted.filter((label) => !own.includes(label)).map((label) => `${label}: ${expression}`);
    });
    expect(wrong).toEqual([]);
  });

  /** Runs a command of the repository. This process serves what it asks, so it must not wait for it synchronously. */
  const runCommand = async (script: string, environment: Readonly<Record<string, string>>, ...args: string[]) => {
    const command = spawn(process.execPath, [script, ...args], {
      cwd: repository,
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said: string[] = [];
    for (const stream of [command.stdout, command.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
    const code = await new Promise<number | null>((resolve) => command.once('close', resolve));
    return { code, lines: said.join('').trim().split('\n') };
  };

  it('passes every check of the doctor, which says what to do about servers that are away and databases that are missing', async () => {
    const address = hosts.at(-1)?.services.get('gateway')?.address ?? '';
    // No Meilisearch runs.
    const environment = { ...environmentOf(commandContainer(), {}), MEILI_URL: '', MEILI_KEY_FILE: '' };
    const { code, lines: found } = await runCommand('scripts/doctor.ts', environment, address);
    expect([code, found.filter((line) => !line.startsWith('ok '))]).toEqual([0, ['No problem was found.']]);
    for (const component of [...names, 'NATS', 'Node.js', address])
      expect(found).toContainEqual(expect.stringMatching(`^ok +${component}: `));

    const bus = { BUS_URL: nats.url, BUS_USER: 'audit', BUS_PASSWORD: secret('audit_nats_password') };
    const away = `http://127.0.0.1:${await freePort()}`;
    const bad = await runCommand(
      'scripts/doctor.ts',
      {
        FEATURES_DATABASE_URL: secret('features_database_url').replace(/:\d+\//, ':1/'),
        SEARCH_DATABASE_URL: secret('search_database_url').replace(/\/bunting_search$/, '/bunting_nothing'),
        ...bus,
        MEILI_URL: away,
        BUS_PASSWORD: 'wrong',
      },
      away,
    );
    expect([bad.code, ...bad.lines.filter((line) => !line.startsWith('ok '))]).toEqual([
      1,
      expect.stringMatching(
        /^PROBLEM features: No PostgreSQL answers at 127\.0\.0\.1:1 .*Start one, or correct the address\.$/,
      ),
      expect.stringMatching(/^PROBLEM search: There is no database bunting_nothing/),
      expect.stringMatching(/^PROBLEM Meilisearch: .* does not answer\. Start it or correct MEILI_URL/),
      expect.stringMatching(/^PROBLEM NATS: .*Authorization Violation.*Correct the credentials/),
      expect.stringMatching(/^PROBLEM http.* does not answer/),
      '5 problems were found.',
    ]);
  });

  it('is copied, and its event log verified, by the users of the services, which own their databases', async () => {
    const environment = environmentOf(commandContainer(), {});
    const copied = await runCommand('scripts/backup.ts', environment, path.join(folder, 'backup'));
    expect([copied.code, copied.lines]).toEqual([0, [expect.stringMatching(/ has everything as of /)]]);
    const verified = await runCommand('scripts/audit-verify.ts', environment);
    expect([verified.code, verified.lines.slice(-2)]).toEqual([0, ['intact', 'complete: true']]);
  });

  it('migrates the database of a service without starting it, and refuses settings that it cannot read with exit code 1', async () => {
    const main = (environment: Readonly<Record<string, string>>) =>
      spawnSync(process.execPath, ['apps/search/src/main.ts', '--migrate'], {
        cwd: repository,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], ...environment },
      });
    const file = path.join(secretsFolder(), 'search_database_url');
    const done = main({ SEARCH_DATABASE_URL_FILE: file });
    expect([done.status, done.stdout]).toEqual([0, 'The databases of search are up to date.\n']);
    chmodSync(file, 0o444);
    const refused = main({ SEARCH_DATABASE_URL_FILE: file });
    chmodSync(file, 0o400);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      'Invalid settings:\nThe file that SEARCH_DATABASE_URL_FILE names can be read by every user (mode 0444). Run chmod 0400 on it, or 0440 for a group.\n',
    ]);
  });

  it('gives no service a right in the database of another', async () => {
    const refused = names.flatMap((name) => {
      const url = new URL(secret(`${name}_database_url`));
      return names
        .filter((other) => other !== name)
        .map(async (other) => {
          url.pathname = `/bunting_${other.replaceAll('-', '_')}`;
          return withClient(url.href, async () => 'connected').catch((error: { code?: string }) => error.code);
        });
    });
    expect(new Set(await Promise.all(refused))).toEqual(new Set(['42501']));
    const url = secret('search_database_url');
    await expect(withClient(url, (client) => client.query('create database more'))).rejects.toMatchObject({
      code: '42501',
    });
    await expect(withClient(url, (client) => client.query('create role more'))).rejects.toMatchObject({
      code: '42501',
    });
  });

  it('lets each service ask for the contract version of the services that it calls', () => {
    const users = [...read('docker/nats.conf').matchAll(/user: ([a-z-]+)\n[^]*?publish: \[([^\]]*)\]/g)];
    const asked = users.map(([, user, subjects = '']) => [
      user,
      [...subjects.matchAll(/"present\.([a-z-]+)"/g)].map(([, service]) => service).toSorted(),
    ]);
    expect(Object.fromEntries(asked)).toEqual(
      Object.fromEntries(names.map((name) => [name, calledServices[name].toSorted()])),
    );
  });

  it('lets no service answer the calls of another, read its replies or publish its events', async () => {
    const attempt = async (user: string, ...commands: readonly string[]): Promise<string> => {
      const socket = connect(nats.port, '127.0.0.1').setEncoding('utf8');
      const options = { verbose: false, user, pass: secret(`${user}_nats_password`) };
      socket.write([`CONNECT ${JSON.stringify(options)}`, ...commands, 'PING', ''].join('\r\n'));
      let answer = '';
      for await (const piece of socket) {
        answer += piece;
        if (/^PONG/m.test(answer)) break;
      }
      return answer.replace(/^INFO .*\r\n/, '').trim();
    };
    expect(await attempt('search', 'SUB call.search.search-features search 1')).toBe('PONG');
    for (const command of [
      'SUB call.gateway.create-api-token gateway 1',
      'SUB _INBOX.gateway.> 1',
      'SUB > 1',
      'PUB event.features.feature-created 2\r\n{}',
      'PUB call.gateway.create-api-token 2\r\n{}',
      'PUB $JS.API.STREAM.DELETE.bunting-features 0\r\n',
    ])
      expect({ command, answer: await attempt('search', command) }).toEqual({
        command,
        answer: expect.stringMatching(/^-ERR 'Permissions Violation/),
      });
  });

  it('accepts no connection without a user and a password, and shows its monitoring to its own container alone', async () => {
    const layout = path.join(folder, 'container');
    mkdirSync(path.join(layout, 'etc/nats'), { recursive: true });
    cpSync(path.join(repository, 'docker/nats.conf'), path.join(layout, 'etc/nats/nats.conf'));
    cpSync(secretsFolder(), path.join(layout, 'run/secrets'), { recursive: true });
    const checked = spawnSync(findNatsServer(), ['-c', path.join(layout, 'etc/nats/nats.conf'), '-t'], {
      encoding: 'utf8',
    });
    expect([checked.status, checked.stderr]).toEqual([0, expect.not.stringMatching(/error/i)]);
    expect(read('docker/nats.conf')).toMatch(/^http: "127\.0\.0\.1:8222"$/m);
    const socket = connect(nats.port, '127.0.0.1').setEncoding('utf8');
    socket.write('CONNECT {"verbose":false}\r\nPING\r\n');
    let answer = '';
    for await (const piece of socket) answer += piece;
    expect(answer).toMatch(/-ERR 'Authorization Violation'/);
  });
});
