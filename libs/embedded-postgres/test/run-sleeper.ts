// A separate process that starts a sleeping command which ends with it, prints its pid, and runs until it is killed.
import { spawn } from 'node:child_process';
import { commandEndingWithParent } from '../src/index.ts';

const mechanism = process.argv[2] === 'pipe' ? 'pipe' : 'kernel';
const signal = process.argv[3] === 'KILL' ? 'KILL' : 'TERM';
const { command, args, stdin } = commandEndingWithParent(['sleep', '600'], { signal, mechanism });
const child = spawn(command, args, { stdio: [stdin, 'ignore', 'ignore'], detached: true });
console.log(JSON.stringify({ pid: child.pid }));
