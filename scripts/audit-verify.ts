import { deadLetters, missedMessages } from '@bunting/outbox';
import { parseArgs } from 'node:util';
import { knownHash } from '../apps/audit/src/domain/parse-event-hash.ts';
import { checkChain } from '../apps/audit/src/persistence/log/verify-chain.ts';
import { whereTheLogIs, withEventLog } from './event-log.ts';

const help = `Checks that no event of the log was altered, removed or moved since it was appended.

  npm run audit:verify [-- options]

  --from ID          the first event to check (default: the first of the log)
  --to ID            the last event to check (default: the last of the log)
  --known ID:HASH    an event and its hash as an earlier run printed them: shows a log that was cut off or rewritten
  --url URL          the database of the event log (default: ${whereTheLogIs})

Ends with 0 when the range is intact, and with 1 when it is not, after naming the first event that is at fault, and also while
there are dead letters: events that could not be appended because of their content, which are named and tried again. It also names
events that services told and that never arrived, which only the restoration of a backup, or a hand, can bring about: with
either the log is not complete. Keep the line that begins with "head" where nobody who can write to the database can change it, and hand it in with --known next time.`;

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
  const options = {
    from: idOf('from', values.from),
    to: idOf('to', values.to),
    known: values.known === undefined ? undefined : knownHash(values.known, '--known'),
  };
  const { from, to } = options;
  if (from !== undefined && to !== undefined && from > to) throw new Error('--from must not be greater than --to.');
  await withEventLog('audit-verify', values.url, async (log) => {
    const beganAt = performance.now();
    let toldAt = beganAt;
    const report = await checkChain(log, {
      ...options,
      progress: (checkedTo, to) => {
        if (performance.now() - toldAt < 1_000) return;
        toldAt = performance.now();
        process.stderr.write(`\rchecked up to event ${checkedTo} of ${to}`);
      },
    });
    if (from !== undefined && from > report.head.id + 1)
      throw new Error(`--from takes the id of an event: the last one has ${report.head.id}.`);
    const seconds = (performance.now() - beganAt) / 1_000;
    if (toldAt !== beganAt) process.stderr.write('\n');
    console.log(`events ${report.from} to ${report.to}: ${report.checked} checked in ${seconds.toFixed(1)} s`);
    console.log(`checked ${report.checkedTo}:${report.hash}`);
    console.log(`head    ${report.head.id}:${report.head.hash}`);
    const missed = await missedMessages(log);
    for (const { producer, first, last } of missed) {
      console.log(`NEVER ARRIVED: events ${first} to ${last} that ${producer} told`);
    }
    const letters = await deadLetters(log);
    for (const { producer, position, uid, type, reason, attempts, nextAttemptAt } of letters) {
      console.log(
        `DEAD LETTER: event ${position} of ${producer} (${type}, ${uid}): ${reason} (${attempts} attempts, the next one at ${nextAttemptAt})`,
      );
    }
    console.log(report.fault === null ? 'intact' : `NOT INTACT: ${report.fault.message}`);
    const isComplete = report.checkedTo >= report.to && missed.length + letters.length === 0;
    console.log(`complete: ${isComplete}`);
    if (report.fault !== null || letters.length > 0) process.exitCode = 1;
  });
};

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 2;
});
