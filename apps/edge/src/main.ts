import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';

// A third of the time of a start goes into compiling: an edge that starts again reads what the one before has written when it stopped. Not in the
// folder for temporary files, where others may write. Without a home that can be written, Node.js goes on without.
if (!import.meta.filename.endsWith('.mjs')) enableCompileCache(path.join(homedir(), '.cache', 'bunting-edge'));

// Most of the heap is features, which stay: by default, as much again and more may be garbage before it is collected (830 MB where 350 are in use).
setFlagsFromString('--heap-growing-percent=30');

const { runEdge } = await import('./run-edge.ts');
await runEdge();
