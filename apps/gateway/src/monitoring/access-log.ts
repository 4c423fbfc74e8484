import { traceparentFrom } from '@bunting/bus';
import type { ErrorKind } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Histogram, type Registry } from 'prom-client';

/** What the access log records of a request. */
export interface RequestRecord {
  readonly id: string;
  readonly startedAt: number;
  /** the path of the operation, with the names of its parameters; set once the request is routed */
  route: string;
  readonly traceparent: string;
  /** id of the authenticated user; absent before authentication */
  callerId?: number;
  outcome: 'ok' | ErrorKind;
  errorId?: string;
  /** the unexpected error, if one was thrown */
  defect?: unknown;
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: RequestRecord;
  }
}

const safeRequestId = /^[\w.:/+=@-]{1,128}$/;

/** The client's `X-Request-Id`, if it is safe to log and to return; a new id otherwise. */
export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers['x-request-id'];
  return typeof given === 'string' && safeRequestId.test(given) ? given : randomUUID();
};

/** Routes that monitoring polls: their requests are logged at `debug`. */
const probeRoutes = /^\/(?:health(?:\/|$)|internal-backstage\/)/;

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/**
 * Writes one log line and one metrics observation per request, when its connection is done with it.
 * @param onFinished called after each of them
 */
export const accessLog = (log: Logger, metrics: Registry, onFinished: (response: ServerResponse) => void) => {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'duration of requests by route, method and status',
    labelNames: ['route', 'method', 'status'],
    buckets: durationBuckets,
    registers: [metrics],
  });

  const finish = (request: IncomingMessage, response: ServerResponse, exchange: RequestRecord): void => {
    const { route, id } = exchange;
    const durationMs = performance.now() - exchange.startedAt;
    const aborted = !response.writableFinished;
    const status = response.statusCode;
    const method = request.method ?? '';
    duration.observe({ route, method, status: aborted ? 'aborted' : status }, durationMs / 1000);

    const isProbe = probeRoutes.test(route) && status < 500;
    const level = exchange.defect !== undefined ? 'error' : isProbe ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    log[level]({
      method,
      route,
      ...(aborted ? {} : { status }),
      outcome: aborted ? 'aborted' : exchange.outcome,
      durationMs: Math.round(durationMs * 100) / 100,
      caller: exchange.callerId,
      requestId: id,
      traceId: exchange.traceparent.slice(3, 35),
      ...(exchange.errorId === undefined ? {} : { errorId: exchange.errorId }),
      ...(exchange.defect === undefined ? {} : { err: exchange.defect }),
    });
  };

  return {
    /** Starts the record of a request, which is written when its connection is done with it. */
    begin: (
      request: IncomingMessage,
      response: ServerResponse,
      known: Pick<RequestRecord, 'id' | 'route' | 'startedAt' | 'callerId'>,
    ): RequestRecord => {
      const received = request.headers['traceparent'];
      const traceparent = traceparentFrom(typeof received === 'string' ? received : undefined);
      const record: RequestRecord = { ...known, traceparent, outcome: 'ok' };
      const end = () => {
        finish(request, response, record);
        onFinished(response);
      };
      if (response.destroyed) end();
      else response.once('close', end);
      return record;
    },
  };
};
