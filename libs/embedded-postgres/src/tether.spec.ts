import { afterEach, expect, it } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Holder, holder, until } from '../test/holder.ts';
import { isAlive, tether } from './tether.ts';

const holders: Holder[] = [];
afterEach(() => holders.splice(0).forEach(({ child }) => child.kill('SIGKILL')));

const ways = process.platform === 'linux' ? (['kernel', 'pipe'] as const) : (['pipe'] as const);

it.each(ways)('a command tied by the %s ends with the process that started it', async (by) => {
  const one = holder('hold-sleeper.ts', [by]);
  holders.push(one);
  const { pid } = await one.said<{ pid: number }>();
  expect(isAlive(pid)).toBe(true);
  one.child.kill('SIGKILL');
  await until('the command ends', () => !isAlive(pid));
});

it.each(ways)('a paused command tied by the %s is killed with the process that started it', async (by) => {
  const one = holder('hold-sleeper.ts', [by, 'KILL']);
  holders.push(one);
  const { pid } = await one.said<{ pid: number }>();
  const runs = () => execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
  await until('the command runs', () => runs().includes('sleep'));
  process.kill(pid, 'SIGSTOP');
  one.child.kill('SIGKILL');
  await until('the command ends', () => !isAlive(pid));
});

it.each(ways)(
  'a command tied by the %s receives its arguments and signals, and reports its exit status',
  async (by) => {
    const { command, args, stdin } = tether(['/bin/sh', '-c', 'echo "$1"; exit 7', 'sh', 'a b'], {
      signal: 'TERM',
      by,
    });
    const child = spawn(command, args, { stdio: [stdin, 'pipe', 'ignore'] });
    const said = child.stdout?.setEncoding('utf8').toArray();
    expect(await once(child, 'exit')).toEqual([7, null]);
    child.stdin?.end('\n');
    expect((await said)?.join('')).toBe('a b\n');
  },
);
