import { implement } from '@bunting/bus';
import { invalid, VerifyEventLog } from '@bunting/contracts';
import { parseChainCheckpoint } from '../../domain/parse-chain-checkpoint.ts';
import type { AuditContext } from '../context.ts';

/** The part of the deadline that is reserved for the reply. */
const replyTimeMs = 1_000;

export const verifyEventLogEndpoint = ({ verifyChain, missedMessages, deadLetters }: AuditContext) =>
  implement(VerifyEventLog, async ({ query: { from, to, known }, deadline }) => {
    if (from !== undefined && to !== undefined && from > to) {
      throw invalid('The `/query/from` property must not be greater than `/query/to`.', '/query/from');
    }
    const report = await verifyChain({
      from,
      to,
      checkpoint: known === undefined ? undefined : parseChainCheckpoint(known, '/query/known'),
      until: new Date(deadline.getTime() - replyTimeMs),
    });
    if (from !== undefined && from > report.head.id + 1) {
      const message = `The \`/query/from\` property must be the id of an event: the last one has ${report.head.id}. You sent ${from}.`;
      throw invalid(message, '/query/from');
    }
    const neverArrived = (await missedMessages()).map(({ producer, first, last, noticedAt }) => ({
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
    const complete = report.checkedTo >= report.to && neverArrived.length + notAppended.length === 0;
    return { intact: report.fault === null, complete, ...report, neverArrived, deadLetters: notAppended };
  });
