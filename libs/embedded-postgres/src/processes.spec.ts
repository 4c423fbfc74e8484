import { afterEach, expect, it } from 'vitest';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type ScriptProcess, startScript, until } from '../test/script-process.ts';
import { commandEndingWithParent, isAlive } from './processes.ts';

const scripts: ScriptProcess[] = [];
afterEach(() => scripts.splice(0).forEach(({ child }) => child.kill('SIGKILL')));

const mechanisms = process.platform === 'linux' ? (['kernel', 'pipe'] as const) : (['pipe'] as const);

it.each(mechanisms)(
  'a command that watches its parent by the %s ends with the process that started it',
  async (mechanism) => {
    const one = startScript('run-sleeper.ts', [mechanism]);
    scripts.push(one);
    const { pid } = await one.said<{ pid: number }>();
    expect(isAlive(pid)).toBe(true);
    one.child.kill('SIGKILL');
    await until('the command ends', () => !isAlive(pid));
  },
);

it.each(mechanisms)(
  'a paused command that watches its parent by the %s is killed with the process that started it',
  async (mechanism) => {
    const one = startScript('run-sleeper.ts', [mechanism, 'KILL']);
    scripts.push(one);
    const { pid } = await one.said<{ pid: number }>();
    const runs = () => execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
    await until('the command runs', () => runs().includes('sleep'));
    process.kill(pid, 'SIGSTOP');
    one.child.kill('SIGKILL');
    await until('the command ends', () => !isAlive(pid));
  },
);

it.each(mechanisms)(
  'a command that watches its parent by the %s receives its arguments and signals, and reports its exit status',
  async (mechanism) => {
    const { command, args, stdin } = commandEndingWithParent(['/bin/sh', '-c', 'echo "$1"; exit 7', 'sh', 'a b'], {
      signal: 'TERM',
      mechanism,
    });
    const child = spawn(command, args, { stdio: [stdin, 'pipe', 'ignore'] });
    const said = child.stdout?.setEncoding('utf8').toArray();
    expect(await once(child, 'exit')).toEqual([7, null]);
    child.stdin?.end('\n');
    expect((await said)?.join('')).toBe('a b\n');
  },
);
