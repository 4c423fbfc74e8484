import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../command.ts';

const help = `Tries the containers of docker-compose.yml: builds and starts them, takes the tour of README.md, replaces containers under load, makes a backup,
restores it into empty databases, asks the doctor, and removes everything.

  npm run test:containers [-- options]

  --keep               leaves the containers running
  --meilisearch=false  takes a Meilisearch that does not work for none, which the doctor may then report

Without a Docker engine it says so and ends with exit code 0. The containers are those of a project of their own (bunting-test) on free ports, behind
the balancer; their secrets are those of docker/secrets, which docker/setup.sh writes if there are none.`;

const repository = path.join(import.meta.dirname, '../..');
const project = 'bunting-test';
const environment = {
  ...process.env,
  COMPOSE_PROJECT_NAME: project,
  COMPOSE_PROFILES: 'balanced',
  BUNTING_VERSION: 'test',
  PORT: '127.0.0.1:0',
  BALANCER_PORT: '127.0.0.1:0',
  GATEWAY_REPLICAS: '2',
  FEATURES_REPLICAS: '2',
  GATEWAY_BEHIND_TLS: 'true',
  GATEWAY_TRUSTED_PROXIES: '172.16.0.0/12,192.168.0.0/16',
};

/** Runs a program, and resolves with what it printed. @throws Error with the end of that, if its exit code is not 0 */
const run = async (program: string, ...args: readonly string[]): Promise<string> => {
  const child = spawn(program, args, { cwd: repository, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0)
    throw new Error(
      `${[program, ...args].join(' ')} ended with ${code}:\n${output.trim().split('\n').slice(-40).join('\n')}`,
    );
  return output;
};
const compose = (...args: readonly string[]): Promise<string> => run('docker', 'compose', ...args);

interface Response {
  readonly status: number;
  readonly text: string;
}
type Send = (method: string, url: string, body?: unknown, token?: string) => Promise<Response>;

/** Requests through the balancer, whose certificate is its own. No request is sent twice. */
const sender = (port: number, adminToken: string): Send => {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  return (method, url, body, token = adminToken) =>
    new Promise((resolve, reject) => {
      // As a browser, which gets the console.
      const headers = {
        authorization: token,
        'content-type': 'application/json',
        accept: 'application/json, text/html',
      };
      const sent = request(
        { host: '127.0.0.1', port, path: url, method, headers, agent, timeout: 30_000 },
        (response) => {
          let text = '';
          response
            .setEncoding('utf8')
            .on('data', (part: string) => (text += part))
            .on('end', () => resolve({ status: response.statusCode ?? 0, text }))
            .on('error', reject);
        },
      );
      sent.on('error', reject).on('timeout', () => sent.destroy(new Error('no response within 30 s')));
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
};

/** @throws Error unless the status is of success */
const expectSuccess = (what: string, { status, text }: Response): Response => {
  if (status < 200 || status >= 300) throw new Error(`${what}: ${status} ${text.slice(0, 500)}`);
  return { status, text };
};
const expectText = (what: string, { text }: Response, expected: string): void => {
  if (!text.includes(expected)) throw new Error(`${what}: without ${expected}: ${text.slice(0, 500)}`);
};

const features = '/api/admin/projects/default/features';

/** The tour of README.md, in short. */
const takeTour = async (send: Send): Promise<void> => {
  const all = async (what: string, ...args: Parameters<Send>): Promise<Response> =>
    expectSuccess(what, await send(...args));
  await all('create', 'POST', features, {
    name: 'new-checkout',
    type: 'release',
    description: 'The checkout in one step',
  });
  const production = `${features}/new-checkout/environments/production`;
  const parameters = { rollout: '10', stickiness: 'default', groupId: 'new-checkout' };
  const strategy = await all('strategy', 'POST', `${production}/strategies`, { name: 'flexibleRollout', parameters });
  await all('enable', 'POST', `${production}/on`);
  const found = await all('search', 'GET', '/api/admin/search/features?query=checkout&status=production:enabled');
  expectText('search', found, '"new-checkout"');
  const { id } = JSON.parse(strategy.text) as { id: string };
  await all('patch', 'PATCH', `${production}/strategies/${id}`, [
    { op: 'replace', path: '/parameters/rollout', value: '25' },
  ]);
  const events = await all('events', 'POST', '/api/admin/events/search', { feature: 'new-checkout', limit: 1 });
  expectText('events', events, 'rollout from 10% to 25%');
  await all('propose', 'POST', '/api/admin/projects/default/environments/production/change-requests', {
    action: 'updateEnabled',
    feature: 'new-checkout',
    payload: { enabled: false },
  });
  expectText(
    'pending',
    await all('pending', 'GET', '/api/admin/projects/default/change-requests/pending'),
    'updateEnabled',
  );
  expectText('console', await all('console', 'GET', '/'), '<title>');
};

const requestsPerSecond = 20;

/** Sends requests of all kinds at a constant rate, however long they take, until `stop`. */
const startLoad = async (send: Send) => {
  const created = await send('POST', '/api/admin/api-tokens', {
    tokenName: `load-${Date.now()}`,
    type: 'client',
    environment: 'production',
  });
  const { secret } = JSON.parse(expectSuccess('SDK token', created).text) as { secret: string };
  const failures: string[] = [];
  let sent = 0;
  const open = new Set<Promise<void>>();
  const kinds: readonly (() => Promise<Response>)[] = [
    () => send('GET', `${features}/new-checkout`),
    () => send('PATCH', `${features}/new-checkout`, [{ op: 'replace', path: '/description', value: `Change ${sent}` }]),
    () => send('GET', '/api/admin/search/features?query=checkout'),
    () => send('GET', '/api/client/features', undefined, secret),
  ];
  const one = async (kind: number): Promise<void> => {
    const at = new Date().toISOString();
    const response = await kinds[kind]?.().catch((error: Error) => ({ status: 0, text: error.message }));
    if (response === undefined || response.status < 200 || response.status >= 300)
      failures.push(`${at} kind ${kind}: ${response?.status} ${response?.text.slice(0, 200)}`);
  };
  const timer = setInterval(() => {
    const running = one(sent++ % kinds.length).finally(() => open.delete(running));
    open.add(running);
  }, 1_000 / requestsPerSecond);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(open);
      return { sent, failures };
    },
  };
};

const services = ['features', 'change-requests', 'audit', 'search', 'integrations', 'gateway'];

const tryContainers = async (hasMeilisearch: boolean): Promise<void> => {
  const step = async <T>(name: string, action: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await action();
    console.log(`passed  ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
    return result;
  };
  /** Runs a command of the repository in the container of docker/tools.yml. */
  const backups = mkdtempSync(path.join(tmpdir(), 'bunting-containers-'));
  const tools = (...args: readonly string[]): Promise<string> =>
    run(
      'env',
      `BACKUPS=${backups}`,
      `TOOLS_USER=${process.getuid?.() ?? 1000}:${process.getgid?.() ?? 1000}`,
      'docker',
      'compose',
      '-f',
      'docker-compose.yml',
      '-f',
      'docker/tools.yml',
      'run',
      '--rm',
      'tools',
      'npm',
      'run',
      '--silent',
      ...args,
    );
  const connect = async (): Promise<Send> => {
    const port = Number((await compose('port', 'balancer', '8443')).trim().split(':').at(-1));
    const send = sender(port, readFileSync(path.join(repository, 'docker/secrets/admin_token'), 'utf8').trim());
    // The balancer finds new gateways within seconds.
    for (let tries = 1; ; tries++) {
      const { status } = await send('GET', '/health').catch(() => ({ status: 0 }));
      if (status === 200 || tries === 30) return send;
      await sleep(1_000);
    }
  };

  try {
    await step('docker/setup.sh --start: all images built, all containers healthy', () =>
      run('docker/setup.sh', '--start'),
    );
    const send = await connect();
    await step('the tour of README.md', () => takeTour(send));
    await step('docker/replace.sh under load', async () => {
      const load = await startLoad(send);
      const replaced = await run('docker/replace.sh').finally(() => sleep(2_000));
      const { sent, failures } = await load.stop();
      console.log(`        ${replaced.trim().split('\n').at(-1)}; ${failures.length} of ${sent} requests failed`);
      if (failures.length > 0) throw new Error(failures.slice(0, 20).join('\n'));
    });
    await step('a backup, while everything runs', () => tools('backup', '--', '/backups/one'));
    expectSuccess('create', await send('POST', features, { name: 'after-the-backup' }));
    await step('the loss of all databases, and the restore of the backup', async () => {
      await compose('stop', ...services);
      const drops = services.map(
        (service) => `-c 'drop database bunting_${service.replaceAll('-', '_')} with (force)'`,
      );
      const psql = `PGPASSWORD=$(cat $PGPASSWORD_FILE) psql -v ON_ERROR_STOP=1 -d postgres ${drops.join(' ')}`;
      await compose('run', '--rm', '--entrypoint', 'sh', 'roles', '-c', psql);
      await compose('run', '--rm', 'roles');
      await tools('restore', '--', '/backups/one');
      await compose('up', '--detach', '--wait');
    });
    const restored = await connect();
    expectSuccess('the flag of the backup', await restored('GET', `${features}/new-checkout`));
    const { status } = await restored('GET', `${features}/after-the-backup`);
    if (status !== 404) throw new Error(`A flag that was made after the backup answers ${status} after the restore.`);
    await step('the event log is intact', () => tools('audit:verify'));
    await step('the doctor finds no problem', async () => {
      const addresses = services.map((service) => `http://${service}:9090`);
      const report = await tools('doctor', '--', ...addresses).catch((error: Error) => error.message);
      const problems = report.split('\n').filter((line) => line.startsWith('PROBLEM'));
      const counted = problems.filter((line) => hasMeilisearch || !line.includes('Meilisearch'));
      if (counted.length > 0 || !report.includes('found.')) throw new Error(report);
    });
  } finally {
    rmSync(backups, { recursive: true, force: true });
  }
};

await runCommand(
  {
    help,
    options: {
      keep: { type: 'boolean', default: false },
      meilisearch: { type: 'string', default: 'true' },
    },
  },
  async (values) => {
    const engine = spawnSync('docker', ['version', '--format', '{{.Server.Version}}'], { encoding: 'utf8' });
    if (engine.status !== 0) {
      console.log('No Docker engine answers: nothing was tested.');
      return 0;
    }
    if (spawnSync('docker', ['compose', 'version']).status !== 0) {
      console.log('Docker Compose is missing: nothing was tested.');
      return 0;
    }
    console.log(`Docker engine ${engine.stdout.trim()}`);
    const remove = (): Promise<string> => compose('down', '--volumes', '--remove-orphans');
    await remove();
    try {
      await tryContainers(values.meilisearch !== 'false');
      return 0;
    } catch (error) {
      console.error(`FAILED  ${(error as Error).message}`);
      console.error(await compose('ps', '--all').catch(String));
      return 1;
    } finally {
      if (!values.keep) await remove();
    }
  },
);
