// A separate process that starts a database, prints its address, and keeps it running until its input ends or it is killed.
import { startEmbeddedPostgres } from '../src/index.ts';

const [dataDir = ''] = process.argv.slice(2);
process.on('SIGINT', () => console.log(JSON.stringify({ interrupted: true })));
try {
  const database = await startEmbeddedPostgres({ dataDir });
  console.log(JSON.stringify({ url: database.url, pid: database.pid }));
  process.stdin.resume().once('end', () => void database.stop());
} catch (error) {
  console.log(JSON.stringify({ refused: String(error) }));
}
