import { openDatabase } from '@bunting/database';
import { inboxHistory, inboxTables } from '@bunting/outbox';
import { parseArgs } from 'node:util';
import { logSize } from '../apps/audit/src/persistence/log-size.ts';
import { logSteps } from '../apps/audit/src/persistence/tables.ts';

const help = `Says how large the event log is: how many events, from when to when, and how many bytes each part takes.

  npm run audit:size [-- --url URL]

  --url URL   the database of the event log (default: AUDIT_DATABASE_URL)`;

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options: { url: { type: 'string' }, help: { type: 'boolean', default: false } } });
  if (values.help) return console.log(help);
  const url = values.url ?? process.env['AUDIT_DATABASE_URL'];
  if (url === undefined || url === '') throw new Error('AUDIT_DATABASE_URL says where the event log is. See --help.');
  const database = await openDatabase({
    url,
    name: 'audit-size',
    steps: [...logSteps, inboxTables, inboxHistory],
    poolSize: 2,
  });
  try {
    const { events, firstId, lastId, oldest, newest, bytes, partitions } = await logSize(database);
    console.log(`events    ${events}${firstId === null ? '' : `, ${firstId} to ${lastId}, ${oldest} to ${newest}`}`);
    console.log(`log       ${megabytes(bytes.log)}`);
    for (const part of partitions) console.log(`  ${part.name.padEnd(12)} ${megabytes(part.bytes)}`);
    console.log(`search    ${megabytes(bytes.search)}`);
    console.log(`database  ${megabytes(bytes.total)}`);
  } finally {
    await database.close();
  }
};

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 2;
});
