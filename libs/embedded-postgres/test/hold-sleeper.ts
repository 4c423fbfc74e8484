// A separate process that ties a sleeping command to itself, prints its pid, and runs until it is killed.
import { spawn } from 'node:child_process';
import { tether } from '../src/index.ts';

const by = process.argv[2] === 'pipe' ? 'pipe' : 'kernel';
const signal = process.argv[3] === 'KILL' ? 'KILL' : 'TERM';
const { command, args, stdin } = tether(['sleep', '600'], { signal, by });
const child = spawn(command, args, { stdio: [stdin, 'ignore', 'ignore'], detached: true });
console.log(JSON.stringify({ pid: child.pid }));
