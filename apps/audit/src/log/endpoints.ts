import { type Endpoint, implement, systemContext } from '@bunting/bus';
import { CollectDeadLetters, deadLetterOperations, GetEventLogSize, VerifyEventLog } from '@bunting/contracts';
import { listDeadLetters, listPrunedUnreadMessages } from '@bunting/outbox';
import pLimit from 'p-limit';
import { call } from '../calls.ts';
import type { AuditContext } from '../endpoints.ts';
import { requireFromNotAfterTo, requireFromNotBeyondNextEvent } from '../search/event-filters.ts';
import { verifyChain } from './chain-store.ts';
import { isVerifiedWithoutMissingEvents, parseExternallyRecordedHash } from './externally-recorded-hash.ts';
import { logSize } from './retention-store.ts';

export function logEndpoints({ bus, database, retentionDays }: AuditContext): readonly Endpoint[] {
  // One at a time in a process, because each may read the entire log.
  const verificationLimit = pLimit(1);
  return [
    implement(VerifyEventLog, async ({ query: { from, to, known }, deadline }) => {
      requireFromNotAfterTo(from, to);
      const options = {
        from,
        to,
        externalHash: known === undefined ? undefined : parseExternallyRecordedHash(known, '/query/known'),
        until: new Date(deadline.getTime() - replyTimeMs),
      };
      const report = await verificationLimit(() => verifyChain(database, options));
      requireFromNotBeyondNextEvent(from, report.head.id);
      const neverArrived = (await listPrunedUnreadMessages(database)).map(
        ({ producer: service, topic: _topic, ...range }) => ({ service, ...range }),
      );
      const notAppended = (await listDeadLetters(database)).map(
        ({ producer: service, topic: _topic, lastFailedAt: _lastFailedAt, ...letter }) => ({ service, ...letter }),
      );
      const complete = isVerifiedWithoutMissingEvents(report, neverArrived, notAppended);
      return { intact: report.fault === null, complete, ...report, neverArrived, deadLetters: notAppended };
    }),

    implement(CollectDeadLetters, async () => {
      const lettersOfOthers = otherConsumers.map(async (service) => ({
        service,
        letters: await call(bus, deadLetterOperations[service], {}, systemContext(timeoutMs)).catch(() => undefined),
      }));
      const all = [
        { service: 'audit', letters: await listDeadLetters(database) },
        ...(await Promise.all(lettersOfOthers)),
      ];
      return {
        deadLetters: all.flatMap(({ service, letters = [] }) => letters.map((letter) => ({ service, ...letter }))),
        unanswered: all.filter(({ letters }) => letters === undefined).map(({ service }) => service),
      };
    }),

    implement(GetEventLogSize, async () => {
      const { bytes, partitions, ...log } = await logSize(database);
      return { ...log, retentionDays: retentionDays ?? null, bytes, partitions: [...partitions] };
    }),
  ];
}

/** The part of the deadline that is reserved for the reply. */
const replyTimeMs = 1_000;

/** Timeout of the calls to the other services: shorter than the default timeout of the caller. */
const timeoutMs = 2_000;

/** The other services that consume messages. */
const otherConsumers = Object.keys(deadLetterOperations) as (keyof typeof deadLetterOperations)[];
