import { newCallerKeys, systemContext } from '@bunting/bus';
import { natsBus } from '@bunting/bus/nats';
import { allOperations, operationsCalledBy } from '@bunting/contracts';
import { type HostOptions, host, openLog, type RunningHost } from '@bunting/runtime';
import {
  eventually,
  findNatsServer,
  reservePort,
  overTcp,
  startNats,
  startTestPostgres,
  type TestNats,
  withClient,
} from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { parse } from 'yaml';
import { services } from '../../src/services.ts';
import { type Api, apiOf } from '../support/clients.ts';
import { repository } from '../support/platform.ts';
import {
  commandContainer,
  compose,
  type Container,
  readFile,
  composedServiceNames,
  temporarySecrets,
} from './compose-file.ts';

const { folder, secretsFolder, secret, runSetup, remove } = temporarySecrets();
afterAll(remove);

describe('the platform with the users and rights of the compose file', () => {
  let nats: TestNats;
  let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
  const hosts: RunningHost[] = [];
  const lines: string[] = [];
  const monitoringPorts = new Map<string, number>();
  const firstAdmin = { username: 'admin@example.org', password: 'Fjord-7-lantern-harbour' };
  /** the variables of `.env` */
  const variables = {
    INIT_ADMIN_EMAIL: firstAdmin.username,
    INIT_ADMIN_PASSWORD_FILE: '/run/secrets/gateway/init_admin_password',
    GATEWAY_BEHIND_TLS: 'true',
    // The primary, which is no replica: it is not used for reads, and the metrics show that.
    FEATURES_READ_DATABASE_URL_FILE: '/run/secrets/features_database_url',
  };
  let api: Api;

  /** The environment of a container for an `.env` with these variables, with the addresses of this machine. */
  const environmentOf = (
    { environment = {} }: Container,
    variables: Readonly<Record<string, string>>,
  ): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [
        key,
        String(value)
          .replace(
            /\$\{([A-Z_]+):-([^}]*)\}/,
            (_, variable: string, fallback: string) => variables[variable] ?? fallback,
          )
          .replace('/run/secrets/', `${secretsFolder}/`)
          .replace('nats:4222', `127.0.0.1:${nats.port}`),
      ]),
    );
  /** The settings of a container of the compose file. */
  const settingsOf = async (
    name: string,
    variables: Readonly<Record<string, string>>,
  ): Promise<NonNullable<HostOptions['environment']>> => {
    const port = await reservePort();
    monitoringPorts.set(name, port);
    return {
      ...environmentOf(compose.services[name] as Container, variables),
      [`${name.toUpperCase().replaceAll('-', '_')}_OPS_PORT`]: String(port),
      NODE_ENV: 'production',
      DRAIN_DELAY_MS: '0',
      LOG_LEVEL: 'warn',
      // No server answers there; PostgreSQL answers searches.
      ...(name === 'search' ? { MEILI_URL: 'http://127.0.0.1:1' } : {}),
      // Without a mail server there are no metrics of mail.
      ...(name === 'integrations'
        ? { SMTP_URL: 'smtp://127.0.0.1:1', INTEGRATIONS_PUBLIC_URL: 'https://flags.example.org' }
        : {}),
      ...(name === 'gateway' ? { PORT: '0', GATEWAY_HOST: '127.0.0.1', GATEWAY_PASSWORD_COST: '10' } : {}),
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
        PGOPTIONS_FILE: path.join(secretsFolder, 'postgres_roles'),
      },
    });
    if (withPsql.status === 0) return;
    if (!/psql: (?:command )?not found/.test(withPsql.stderr)) throw new Error(withPsql.stderr);
    const roles = readFile('docker/postgres/roles.sql');
    const url = `${postgres.url}?options=${encodeURIComponent(options)}`;
    await withClient(url, async (client) => {
      await client.query(roles);
      const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
      for (const name of composedServiceNames) {
        const database = `bunting_${name.replaceAll('-', '_')}`;
        if (!rows.some(({ datname }) => datname === database))
          await client.query(`create database ${database} owner ${database}`);
      }
      await client.query(roles);
    });
  };

  beforeAll(async () => {
    postgres = await startTestPostgres(`bunting-test-compose-${process.pid}`);
    runSetup({ POSTGRES_ADDRESS: new URL(overTcp(postgres.url)).host });
    nats = await startNats({
      config: `${secret('nats_passwords')}\n${readFile('docker/nats/nats.conf').replace(/^[^]*?(?=^accounts)/m, '')}`,
    });
    // Outside of a container, a service refuses a secret that other users can read.
    writeFileSync(path.join(secretsFolder, 'gateway', 'init_admin_password'), `${firstAdmin.password}\n`);
    for (const file of readdirSync(secretsFolder, { recursive: true, withFileTypes: true }))
      if (file.isFile()) chmodSync(path.join(file.parentPath, file.name), 0o400);
    await createRoles();
    await createRoles();
    const log = openLog('warn', { write: (line) => void lines.push(line) });
    for (const service of services)
      hosts.push(await host([service], { environment: await settingsOf(service.name, variables), log }));
    api = apiOf(hosts.at(-1)?.services.get('gateway')?.address ?? '', secret('admin_token'));
  });
  afterAll(async () => {
    for (const hosted of hosts.toReversed()) await hosted.stop();
    await nats?.stop();
    await postgres?.stop();
  });

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
    // A search that cannot wait for the index any longer, on a busy machine, responds without what is new.
    await eventually(async () => {
      const found = await api<{ total: number }>(
        'GET',
        '/api/admin/search/features?project=IS:shop&tag=INCLUDE:simple:blue',
      );
      expect([found.status, found.body.total]).toEqual([200, 1]);
    });
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
        integrations: '0',
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
      (file) => metricsIn(readFile(file)),
    );
    expect(named.length).toBeGreaterThan(50);
    const isDatabase = (name: string): boolean =>
      /^bunting_(?:features|change_requests|audit|search|integrations|gateway)$/.test(name);
    expect([...new Set(named)].filter((name) => !exported.has(name) && !isDatabase(name))).toEqual([]);
    const documented = new Set(metricsIn(readFile('docs/operations.md')));
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
    const { panels } = JSON.parse(readFile('deploy/dashboards/bunting.json')) as {
      panels: { targets: { expr: string; legendFormat: string }[] }[];
    };
    const { groups } = parse(readFile('deploy/alerts/bunting.rules.yaml')) as {
      groups: { rules: { expr: string }[] }[];
    };
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

  const inherited = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };

  /** Runs a command of the repository. This process serves its requests, so it must not wait synchronously. */
  const runCommand = async (script: string, environment: Readonly<Record<string, string>>, ...args: string[]) => {
    const command = spawn(process.execPath, [script, ...args], {
      cwd: repository,
      env: { ...inherited, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output: string[] = [];
    for (const stream of [command.stdout, command.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
    const code = await new Promise<number | null>((resolve) => command.once('close', resolve));
    return { code, lines: output.join('').trim().split('\n') };
  };

  it('passes every check of the doctor, which says what to do about servers that are away and databases that are missing', async () => {
    const address = hosts.at(-1)?.services.get('gateway')?.address ?? '';
    // No Meilisearch runs.
    const environment = { ...environmentOf(commandContainer(), {}), MEILI_URL: '', MEILI_KEY_FILE: '' };
    const { code, lines: found } = await runCommand('scripts/diagnose-deployment.ts', environment, address);
    expect([code, found.filter((line) => !line.startsWith('ok '))]).toEqual([0, ['No problem was found.']]);
    for (const component of [...composedServiceNames, 'NATS', 'Node.js', address])
      expect(found).toContainEqual(expect.stringMatching(`^ok +${component}: `));

    const bus = { BUS_URL: nats.url, BUS_USER: 'audit', BUS_PASSWORD: secret('audit_nats_password') };
    const away = `http://127.0.0.1:${await reservePort()}`;
    const bad = await runCommand(
      'scripts/diagnose-deployment.ts',
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
    const verified = await runCommand('scripts/audit/audit-verify.ts', environment);
    expect([verified.code, verified.lines.slice(-2)]).toEqual([0, ['intact', 'complete: true']]);
  });

  it('migrates the database of a service without starting it, and refuses settings that it cannot read with exit code 1', async () => {
    const main = (environment: Readonly<Record<string, string>>) =>
      spawnSync(process.execPath, ['apps/search/src/main.ts', '--migrate'], {
        cwd: repository,
        encoding: 'utf8',
        env: { ...inherited, ...environment },
      });
    const file = path.join(secretsFolder, 'search_database_url');
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
    const refused = composedServiceNames.flatMap((name) => {
      const url = new URL(secret(`${name}_database_url`));
      return composedServiceNames
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

  /** What the NATS server says to commands of the user of a service. */
  const serverSays = async (user: string, ...commands: readonly string[]): Promise<string> => {
    const socket = connect(nats.port, '127.0.0.1').setEncoding('utf8');
    const options = { verbose: false, user, pass: secret(`${user}_nats_password`) };
    socket.write([`CONNECT ${JSON.stringify(options)}`, ...commands, 'PING', ''].join('\r\n'));
    let response = '';
    for await (const piece of socket) {
      response += piece;
      if (/^PONG/m.test(response)) break;
    }
    return response.replace(/^INFO .*\r\n/, '').trim();
  };

  it.each(composedServiceNames)('lets %s call the operations that it declares, and no other', async (user) => {
    const called = operationsCalledBy(user);
    const others = allOperations.filter((operation) => !called.includes(operation)).map(({ subject }) => subject);
    const refused = await serverSays(user, ...others.map((subject) => `PUB ${subject} 2\r\n{}`));
    const named = [...refused.matchAll(/^-ERR 'Permissions Violation for Publish to "([^"]+)"'/gm)];
    expect(named.map(([, subject]) => subject).toSorted()).toEqual(others.toSorted());
    expect(others.length).toBeGreaterThan(50);
  });

  it('refuses callers that no gateway has signed, whichever service names them, with a warning and a count', async () => {
    const ceo = { id: 1, name: 'ceo@example.org', grants: [{ permission: 'ADMIN' as const }] };
    const forged = { ...systemContext(60_000), caller: ceo, repeatable: true };
    const outcomes = await Promise.all(
      composedServiceNames.map(async (name) => {
        const access = { user: name, password: secret(`${name}_nats_password`) };
        const signer = newCallerKeys();
        const buses = [
          await natsBus({ url: nats.url, name, access }),
          await natsBus({ url: nats.url, name, access, callerKeys: signer }),
        ];
        const operations = operationsCalledBy(name).filter(({ http }) => http !== undefined);
        const refused = await Promise.all(
          buses.map((bus) =>
            Promise.all(
              operations.slice(0, 40).map(async ({ subject }) => {
                const response = await bus.call(subject, '{}', forged);
                return 'refusal' in response ? response.refusal.error.message : `${subject} was called`;
              }),
            ),
          ),
        );
        for (const bus of buses) await bus.close();
        return refused.map((messages) => [
          ...new Set(messages.map((message) => message.replace(/^.* was refused: /, ''))),
        ]);
      }),
    );
    const unsigned = ['no gateway has signed its caller.'];
    const unknown = ['its caller is signed with a key that is not among those of this service.'];
    const byService = Object.fromEntries(composedServiceNames.map((name, nth) => [name, outcomes[nth]]));
    const bothRefused = [unsigned, unknown];
    expect(byService).toEqual({
      features: bothRefused,
      'change-requests': bothRefused,
      gateway: bothRefused,
      audit: [[], []],
      search: [[], []],
      integrations: bothRefused,
    });
    expect(
      lines.filter((line) => /"level":"warn".*A call names a caller that no gateway has signed/.test(line)),
    ).not.toEqual([]);
    const text = await (await fetch(`http://127.0.0.1:${monitoringPorts.get('features')}/metrics`)).text();
    expect(text).toMatch(/^bunting_distrusted_callers_total\{signature="invalid",[^}]*\} [1-9]/m);
  });

  it('lets no service reply to the calls of another, read its replies or publish its events', async () => {
    expect(await serverSays('search', 'SUB call.search.search-features search 1')).toBe('PONG');
    for (const command of [
      'SUB call.gateway.create-api-token gateway 1',
      'SUB _INBOX.gateway.> 1',
      'SUB alive.features.* 1',
      'SUB > 1',
      'PUB _INBOX.gateway.guessed.0 2\r\n{}',
      'PUB alive.gateway.anyone 2\r\n[]',
      'PUB event.features.feature-created 2\r\n{}',
      'PUB $JS.API.STREAM.DELETE.bunting-features 0\r\n',
    ])
      expect({ command, response: await serverSays('search', command) }).toEqual({
        command,
        response: expect.stringMatching(/^-ERR 'Permissions Violation/),
      });
  });

  it('accepts no connection without a user and a password, and shows its monitoring to its own container alone', async () => {
    const layout = path.join(folder, 'container');
    mkdirSync(path.join(layout, 'etc/nats'), { recursive: true });
    cpSync(path.join(repository, 'docker/nats/nats.conf'), path.join(layout, 'etc/nats/nats.conf'));
    cpSync(secretsFolder, path.join(layout, 'run/secrets'), { recursive: true });
    const checked = spawnSync(findNatsServer(), ['-c', path.join(layout, 'etc/nats/nats.conf'), '-t'], {
      encoding: 'utf8',
    });
    expect([checked.status, checked.stderr]).toEqual([0, expect.not.stringMatching(/error/i)]);
    expect(readFile('docker/nats/nats.conf')).toMatch(/^http: "127\.0\.0\.1:8222"$/m);
    const socket = connect(nats.port, '127.0.0.1').setEncoding('utf8');
    socket.write('CONNECT {"verbose":false}\r\nPING\r\n');
    let response = '';
    for await (const piece of socket) response += piece;
    expect(response).toMatch(/-ERR 'Authorization Violation'/);
  });
});
