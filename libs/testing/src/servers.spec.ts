import { isAlive } from '@bunting/embedded-postgres';
import { expect, it } from 'vitest';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from './assertions.ts';
import { withClient } from './test-postgres.ts';

it('the servers of a killed test process end, and their files are removed', async () => {
  const env = { ...process.env, TEST_POSTGRES_URL: '' };
  const script = new URL('../test/run-servers.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--no-warnings', script], { stdio: ['pipe', 'pipe', 'inherit'], env });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { nats, storeDir, database } = JSON.parse(line) as {
    nats: number;
    storeDir: string;
    database: string;
  };
  const postgresFolder = path.dirname(decodeURIComponent(new URL(database).hostname));
  expect([isAlive(nats), existsSync(storeDir), existsSync(postgresFolder)]).toEqual([true, true, true]);
  await withClient(database, (client) => client.query('SELECT 1'));

  child.kill('SIGKILL');
  await eventually(async () => {
    expect([isAlive(nats), existsSync(storeDir), existsSync(postgresFolder)]).toEqual([false, false, false]);
    await expect(withClient(database, (client) => client.query('SELECT 1'))).rejects.toThrow(/ECONNREFUSED|ENOENT/);
  });
});
