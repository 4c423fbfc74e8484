import { openDatabase } from '@bunting/database';
import { inboxHistory, inboxTables, missedMessages } from '@bunting/outbox';
import { parseArgs } from 'node:util';
import { knownHash } from '../apps/audit/src/domain/known-hash.ts';
import { checkChain } from '../apps/audit/src/persistence/chain-check.ts';
import { logSteps } from '../apps/audit/src/persistence/tables.ts';

const help = `Checks that no event of the log was altered, removed or moved since it was appended.

  npm run audit:verify [-- options]

  --from ID          the first event to check (default: the first of the log)
  --to ID            the last event to check (default: the last of the log)
  --known ID:HASH    an event and its hash as an earlier run printed them: shows a log that was cut off or rewritten
  --url URL          the database of the event log (default: AUDIT_DATABASE_URL)

Ends with 0 when the range is intact, and with 1 when it is not, after naming the first event that is at fault. It also names
events that services told and that never arrived, which only the restoration of a backup, or a hand, can bring about. Keep the
line that begins with "head" where nobody who can write to the database can change it, and hand it in with --known next time.`;

const idOf = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const id = Number(text);
  if (!Number.isSafeInteger(id) || id < 1) throw new Error(`--${name} takes the id of an event.`);
  return id;
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      known: { type: 'string' },
      url: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(help);
  const url = values.url ?? process.env['AUDIT_DATABASE_URL'];
  if (url === undefined || url === '') throw new Error('AUDIT_DATABASE_URL says where the event log is. See --help.');
  const options = {
    from: idOf('from', values.from),
    to: idOf('to', values.to),
    known: values.known === undefined ? undefined : knownHash(values.known, '--known'),
  };
  const database = await openDatabase({
    url,
    name: 'audit-verify',
    steps: [...logSteps, inboxTables, inboxHistory],
    poolSize: 2,
  });
  try {
    const beganAt = performance.now();
    let toldAt = beganAt;
    const report = await checkChain(database, {
      ...options,
      progress: (checkedTo, to) => {
        if (performance.now() - toldAt < 1_000) return;
        toldAt = performance.now();
        process.stderr.write(`\rchecked up to event ${checkedTo} of ${to}`);
      },
    });
    const seconds = (performance.now() - beganAt) / 1_000;
    if (toldAt !== beganAt) process.stderr.write('\n');
    console.log(`events ${report.from} to ${report.to}: ${report.checked} checked in ${seconds.toFixed(1)} s`);
    console.log(`checked ${report.checkedTo}:${report.hash}`);
    console.log(`head    ${report.head.id}:${report.head.hash}`);
    for (const { producer, first, last } of await missedMessages(database)) {
      console.log(`NEVER ARRIVED: events ${first} to ${last} that ${producer} told`);
    }
    console.log(report.fault === null ? 'intact' : `NOT INTACT: ${report.fault.message}`);
    if (report.fault !== null) process.exitCode = 1;
  } finally {
    await database.close();
  }
};

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 2;
});
