import { afterEach, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'bunting-supervised-'));
let supervised: SupervisedProcess | undefined;
afterEach(async () => {
  await supervised?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it('a process that has failed as often in a row as is allowed is not restarted', async () => {
  const lines: string[] = [];
  supervised = superviseProcess({
    name: 'nats-server',
    command: ['sh', '-c', 'echo started; exit 3'],
    folder,
    environment: { PATH: process.env['PATH'] },
    show: (line) => lines.push(line),
    maxFailures: 2,
  });
  expect(await supervised.failed).toBe('nats-server ended 2 times in a row, last with exit code 3.');
  expect(lines.filter((line) => line.includes('restarting it'))).toEqual([
    'ended with exit code 3; restarting it in 0.5 s',
  ]);
});
