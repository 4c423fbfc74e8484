import { describe, expect, it } from 'vitest';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const runModule = JSON.stringify(path.join(import.meta.dirname, 'run.ts'));

const program = `
  const { logUnhandledRejections } = await import(${runModule});
  const { openLog } = await import(${JSON.stringify(path.join(import.meta.dirname, 'log.ts'))});
  logUnhandledRejections(openLog('error'));
  Promise.reject(new Error('The database is away.'));
  setTimeout(() => console.log('still here'), 10);`;

/** A script whose stop never ends, and whose clock SIGUSR2 moves forward by a second. */
const stopping = `
  const { stopOnSignal } = await import(${runModule});
  let nowMs = 0;
  performance.now = () => nowMs;
  stopOnSignal(() => new Promise(() => undefined));
  process.on('SIGINT', () => console.log('still stopping'));
  process.on('SIGUSR2', () => {
    nowMs += 1_001;
    console.log('more than a second later');
  });
  setInterval(() => undefined, 60_000);
  console.log('started');`;

describe('a process', () => {
  it('exits with 130 at a second signal more than a second after the first, and takes an earlier one for the first', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', stopping], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout);
    await once(lines, 'line');
    const output: unknown[] = [];
    for (const signal of ['SIGINT', 'SIGINT', 'SIGUSR2'] as const) {
      const line = once(lines, 'line');
      child.kill(signal);
      output.push(...(await line));
    }
    expect(output).toEqual(['still stopping', 'still stopping', 'more than a second later']);
    const exit = once(child, 'exit');
    child.kill('SIGINT');
    expect(await exit).toEqual([130, null]);
  });

  it('logs an unhandled rejection, and keeps running', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    const [line = '', after] = stdout.trim().split('\n');
    expect(JSON.parse(line)).toMatchObject({
      level: 'error',
      msg: 'Unhandled promise rejection',
      err: { message: 'The database is away.', stack: expect.stringContaining('at ') },
    });
    expect(after).toBe('still here');
  });
});
