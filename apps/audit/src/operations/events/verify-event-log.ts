import { implement } from '@bunting/bus';
import { VerifyEventLog } from '@bunting/contracts';
import { isVerificationComplete } from '../../domain/is-verification-complete.ts';
import { requireRange, requireRangeWithinLog } from '../../domain/require-within-log.ts';
import { parseChainCheckpoint } from '../../domain/chain-checkpoint.ts';
import type { AuditContext } from '../context.ts';

/** The part of the deadline that is reserved for the reply. */
const replyTimeMs = 1_000;

export const verifyEventLogEndpoint = ({ verifyChain, prunedUnreadMessages, deadLetters }: AuditContext) =>
  implement(VerifyEventLog, async ({ query: { from, to, known }, deadline }) => {
    requireRange(from, to);
    const report = await verifyChain({
      from,
      to,
      checkpoint: known === undefined ? undefined : parseChainCheckpoint(known, '/query/known'),
      until: new Date(deadline.getTime() - replyTimeMs),
    });
    requireRangeWithinLog(from, report.head.id);
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
    const complete = isVerificationComplete(report, neverArrived, notAppended);
    return { intact: report.fault === null, complete, ...report, neverArrived, deadLetters: notAppended };
  });
