import { compare } from 'bcryptjs';
import { parentPort, workerData } from 'node:worker_threads';

// bcryptjs computes in JavaScript and would block the event loop of the gateway.
const { password, hash } = workerData as { readonly password: string; readonly hash: string };
parentPort?.postMessage(await compare(password, hash));
