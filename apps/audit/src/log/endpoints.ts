import { implement } from '@bunting/bus';
import { VerifyEventLog } from '@bunting/contracts';
import { isVerifiedWithoutMissingEvents } from '../domain/is-verified-without-missing-events.ts';
import { requireFromNotAfterTo, requireFromNotBeyondNextEvent } from '../domain/require-valid-bounds.ts';
import { parseExternallyRecordedHash } from './externally-recorded-hash.ts';
import type { AuditContext } from '../operations/context.ts';

/** The part of the deadline that is reserved for the reply. */
const replyTimeMs = 1_000;

export const verifyEventLogEndpoint = ({ verifyChain, prunedUnreadMessages, deadLetters }: AuditContext) =>
  implement(VerifyEventLog, async ({ query: { from, to, known }, deadline }) => {
    requireFromNotAfterTo(from, to);
    const report = await verifyChain({
      from,
      to,
      externalHash: known === undefined ? undefined : parseExternallyRecordedHash(known, '/query/known'),
      until: new Date(deadline.getTime() - replyTimeMs),
    });
    requireFromNotBeyondNextEvent(from, report.head.id);
    const neverArrived = (await prunedUnreadMessages()).map(({ producer, first, last, noticedAt }) => ({
      service: producer,
      first,
      last,
      noticedAt,
    }));
    const notAppended = (await deadLetters()).map(
      ({ producer, position, uid, type, reason, attempts, failedAt, nextAttemptAt }) => ({
        service: producer,
        position,
        uid,
        type,
        reason,
        attempts,
        failedAt,
        nextAttemptAt,
      }),
    );
    const complete = isVerifiedWithoutMissingEvents(report, neverArrived, notAppended);
    return { intact: report.fault === null, complete, ...report, neverArrived, deadLetters: notAppended };
  });
