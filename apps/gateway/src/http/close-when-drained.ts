import { unknownOutcomeDelayMs } from '@bunting/bus';
import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { stopArrivalGraceMs, stopReadGraceMs } from './request-timeouts.ts';

/** Waits while some response matches, at most `timeoutMs`. Polls, because Node emits no event when the headers of a response are sent. */
const waitWhile = async (
  responses: ReadonlySet<ServerResponse>,
  matches: (response: ServerResponse) => boolean,
  timeoutMs: number,
): Promise<void> => {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline && [...responses].some(matches)) await sleep(20);
};

/**
 * Accepts no new request, responds to those that have arrived, and ends the connections of clients that send or read too slowly.
 * @param openResponses those whose connection is not yet closed
 * @param maxMs milliseconds that the longest request may take
 */
export const closeWhenDrained = async (
  app: FastifyInstance,
  openResponses: ReadonlySet<ServerResponse>,
  maxMs: number,
): Promise<void> => {
  const closed = app.close();
  await Promise.race([closed, sleep(stopArrivalGraceMs, undefined, { ref: false })]);
  // Requests that have arrived get their response. Only timers are awaited in the loop: `closed` may be settled already, and awaiting it
  // again and again would leave no time for input and output.
  await waitWhile(
    openResponses,
    ({ req, headersSent }) => req.complete && !headersSent,
    maxMs + unknownOutcomeDelayMs + stopArrivalGraceMs,
  );
  await waitWhile(openResponses, ({ headersSent }) => headersSent, stopReadGraceMs);
  app.server.closeAllConnections();
  await closed;
};
