// A process of its own that starts what tests start, tells where it is, and holds it until it is killed.
import { freshDatabase, startNats } from '../src/index.ts';

const [nats, database] = await Promise.all([startNats(), freshDatabase()]);
console.log(JSON.stringify({ pid: process.pid, nats: nats.pid, storeDir: nats.storeDir, database: database.url }));
process.stdin.resume();
