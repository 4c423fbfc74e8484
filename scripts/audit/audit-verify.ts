import { listDeadLetters, listPrunedUnreadMessages } from '@bunting/outbox';
import {
  isVerifiedWithoutMissingEvents,
  parseExternallyRecordedHash,
} from '../../apps/audit/src/log/externally-recorded-hash.ts';
import { requireFromNotAfterTo, requireFromNotBeyondNextEvent } from '../../apps/audit/src/search/event-filters.ts';
import { verifyChain } from '../../apps/audit/src/log/chain-store.ts';
import { countOption, runCommand } from '../command.ts';
import { eventLogLocationHelp, withEventLog } from './with-event-log.ts';

const help = `Checks that no event of the log was altered, removed or moved since it was appended.

  npm run audit:verify [-- options]

  --from ID          the first event to check (default: the first of the log)
  --to ID            the last event to check (default: the last of the log)
  --known ID:HASH    an event and its hash as an earlier run printed them: shows a log that was cut off or rewritten
  --url URL          the database of the event log (default: ${eventLogLocationHelp})

The exit code is 0 if the range is intact, and 1 if it is not (the first wrong event is printed) or while there are dead letters:
events that could not be appended because of their content, and are retried. It is 2 if the log cannot be read. It also prints events that services emitted and that
never arrived, which only a restored backup or manual deletion can cause; with either the log is not complete. Store the line
that begins with "head" out of reach of everyone with write access to the database, and pass it as --known next time.`;

function idOption(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : countOption(name, text);
}

await runCommand(
  {
    help,
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      known: { type: 'string' },
      url: { type: 'string' },
    },
    // 1 says that the log is not intact, so a log that cannot be read ends with 2.
    failureCode: 2,
  },
  async (values) => {
    const options = {
      from: idOption('from', values.from),
      to: idOption('to', values.to),
      externalHash: values.known === undefined ? undefined : parseExternallyRecordedHash(values.known, '--known'),
    };
    requireFromNotAfterTo(options.from, options.to, '--');
    return withEventLog('audit-verify', values.url, async (log) => {
      const startedAt = performance.now();
      let reportedAt = startedAt;
      const report = await verifyChain(log, {
        ...options,
        progress: (checkedTo, to) => {
          if (performance.now() - reportedAt < 1_000) return;
          reportedAt = performance.now();
          process.stderr.write(`\rchecked up to event ${checkedTo} of ${to}`);
        },
      });
      requireFromNotBeyondNextEvent(options.from, report.head.id, '--');
      const seconds = (performance.now() - startedAt) / 1_000;
      if (reportedAt !== startedAt) process.stderr.write('\n');
      console.log(`events ${report.from} to ${report.to}: ${report.checked} checked in ${seconds.toFixed(1)} s`);
      console.log(`checked ${report.checkedTo}:${report.hash}`);
      console.log(`head    ${report.head.id}:${report.head.hash}`);
      const missed = await listPrunedUnreadMessages(log);
      for (const { producer, first, last } of missed) {
        console.log(`NEVER ARRIVED: events ${first} to ${last} of ${producer}`);
      }
      const letters = await listDeadLetters(log);
      for (const { producer, position, uid, type, reason, attempts, nextAttemptAt } of letters) {
        console.log(
          `DEAD LETTER: event ${position} of ${producer} (${type}, ${uid}): ${reason} (${attempts} attempts, the next one at ${nextAttemptAt})`,
        );
      }
      console.log(report.fault === null ? 'intact' : `NOT INTACT: ${report.fault.message}`);
      console.log(`complete: ${isVerifiedWithoutMissingEvents(report, missed, letters)}`);
      return report.fault !== null || letters.length > 0 ? 1 : 0;
    });
  },
);
