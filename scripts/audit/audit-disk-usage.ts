import { logSize } from '../../apps/audit/src/log/retention-store.ts';
import { runCommand } from '../command.ts';
import { eventLogLocationHelp, withEventLog } from './with-event-log.ts';

const help = `Says how large the event log is: how many events, from when to when, and how many bytes each part takes.

  npm run audit:disk-usage [-- --url URL]

  --url URL   the database of the event log (default: ${eventLogLocationHelp})`;

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

await runCommand({ help, options: { url: { type: 'string' } } }, async (values) => {
  await withEventLog('audit-disk-usage', values.url, async (log) => {
    const { events, firstId, lastId, oldest, newest, bytes, partitions } = await logSize(log);
    console.log(`events    ${events}${firstId === null ? '' : `, ${firstId} to ${lastId}, ${oldest} to ${newest}`}`);
    console.log(`log       ${megabytes(bytes.log)}`);
    for (const part of partitions) console.log(`  ${part.name.padEnd(12)} ${megabytes(part.bytes)}`);
    console.log(`search    ${megabytes(bytes.search)}`);
    console.log(`database  ${megabytes(bytes.total)}`);
  });
});
