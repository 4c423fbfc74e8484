import { eventually, reservePort, type FreshDatabase, freshDatabase, longFreshnessTimeouts } from '@bunting/testing';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';

const repository = path.join(import.meta.dirname, '..', '..', '..', '..');
const services = ['gateway', 'features', 'change-requests', 'audit', 'search', 'integrations'];

/**
 * Starts all of Bunting in one process of its own, on fresh databases, and serves the built console.
 * @param basePath the path of its public URL, below which it is served, too
 */
export async function startBunting(basePath = '') {
  const databases: FreshDatabase[] = [];
  const port = await reservePort();
  // Where the spec that needs it starts a double of Slack.
  const slackPort = await reservePort();
  const token = `console-${randomBytes(24).toString('hex')}`;
  const settings: Record<string, string> = {
    PORT: String(port),
    GATEWAY_HOST: '127.0.0.1',
    BUNTING_ADMIN_TOKEN: token,
    CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: 'true',
    CHANGE_REQUESTS_ADMINS_REVIEW_OWN: 'true',
    CHECK_REPLIES: 'true',
    INTEGRATIONS_SECRET_KEY: 'the key of the integrations of the tests',
    INTEGRATIONS_ALLOWED_HOSTS: '127.0.0.1',
    INTEGRATIONS_SLACK_URL: `http://127.0.0.1:${slackPort}`,
    INTEGRATIONS_PUBLIC_URL: `http://127.0.0.1:${port}`,
    GATEWAY_PUBLIC_URL: `http://127.0.0.1:${port}${basePath}`,
    // Mail is set up, and goes nowhere.
    SMTP_URL: 'smtp://127.0.0.1:1',
    ...longFreshnessTimeouts,
    GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '0',
    GATEWAY_PASSWORD_COST: '10',
    LOG_LEVEL: 'warn',
  };
  for (const name of services) {
    const database = await freshDatabase(name);
    databases.push(database);
    settings[`${name.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`] = database.url;
  }
  const inherited = Object.entries(process.env).filter(([name]) =>
    ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE'].includes(name),
  );
  const child = spawn(process.execPath, [path.join(repository, 'apps', 'all-in-one', 'src', 'main.ts')], {
    cwd: repository,
    env: { ...Object.fromEntries(inherited), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const url = `http://127.0.0.1:${port}`;
  // Does not survive this process, however it ends.
  process.once('exit', () => child.kill('SIGKILL'));
  await eventually(
    async () => {
      if (hasEnded()) return;
      const { ok } = await fetch(`${url}/health/ready`);
      if (!ok) throw new Error('It is not ready yet.');
    },
    { timeoutMs: 180_000 },
  );
  if (hasEnded()) throw new Error(`Bunting ended before it was ready.\n${output}`);
  return {
    url,
    token,
    slackPort,
    stop: async (): Promise<void> => {
      child.kill('SIGTERM');
      await ended;
      for (const database of databases) await database.drop();
      const defects = output.split('\n').filter((line) => line.includes('"InternalError"'));
      if (defects.length > 0) throw new Error(`Bunting has logged defects:\n${defects.join('\n')}`);
    },
  };
}
