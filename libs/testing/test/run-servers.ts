// A separate process that starts the test servers, prints their addresses, and keeps them running until it is killed.
import { freshDatabase, startNats } from '../src/index.ts';

const [nats, database] = await Promise.all([startNats(), freshDatabase()]);
console.log(JSON.stringify({ nats: nats.pid, storeDir: nats.storeDir, database: database.url }));
process.stdin.resume();
