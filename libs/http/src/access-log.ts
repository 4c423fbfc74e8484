// Own code instead of Fastify's logger: one line and one measurement a request, also for polls that are not routed, for URLs that Fastify refuses,
// and for connections that end before a response.
import { traceparentFrom } from '@bunting/bus';
import type { ErrorKind } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import { type SpanOptions, type StartedSpan, startSpan } from '@bunting/tracing';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Histogram, type Registry } from 'prom-client';

interface RequestFacts {
  readonly id: string;
  readonly startedAt: number;
  /** the path of the operation, with the names of its parameters */
  readonly route: string;
  /** id of the authenticated user */
  readonly callerId?: number;
}

/**
 * What is logged of a request. A class, since V8 makes a hidden class of its own for each object literal with a getter: it kept every request
 * and its response in memory until the next major garbage collection.
 */
export class RequestRecord {
  readonly id: string;
  readonly startedAt: number;
  /** set once the request is routed */
  route: string;
  /** undefined before authentication */
  callerId: number | undefined;
  /** the span of the request, where it is traced */
  readonly span: StartedSpan | undefined;
  outcome: 'ok' | ErrorKind = 'ok';
  errorId: string | undefined = undefined;
  /** the code or name of the error, where Fastify or a plugin refused the request */
  libraryError: string | undefined = undefined;
  /** the unexpected error, if one was thrown */
  defect: unknown = undefined;
  readonly #parent: string | undefined;
  #traceparent: string | undefined;

  /** @param parent the `traceparent` of the client */
  constructor({ id, startedAt, route, callerId }: RequestFacts, span: StartedSpan | undefined, parent?: string) {
    this.id = id;
    this.startedAt = startedAt;
    this.route = route;
    this.callerId = callerId;
    this.span = span;
    this.#parent = parent;
    this.#traceparent = span?.traceparent;
  }

  /** Made when it is needed: a poll whose line is not logged needs none. */
  get traceparent(): string {
    return (this.#traceparent ??= traceparentFrom(this.#parent));
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: RequestRecord;
  }
}

const safeRequestId = /^[\w.:/+=@-]{1,128}$/;

/** The client's `X-Request-Id`, if it is safe to log and to return; a new id otherwise. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const requestId = headers['x-request-id'];
  return typeof requestId === 'string' && safeRequestId.test(requestId) ? requestId : randomUUID();
}

/** Routes that monitoring polls: their requests are logged at `debug`, and not traced. */
export const probeRoutes = /^\/(?:health(?:\/|$)|ready$|internal-backstage\/)/;

/** The parameters of a path, by name. */
type PathParams = Readonly<Record<string, string | undefined>>;

/** Parameters of paths that are secrets. */
const isSecretParam = /token$|secret|^ticket$/i;

/** The path of a request for its span: without the query and without secrets. A path without a route is left out. */
function tracedPath(route: string, params: PathParams): string {
  return route.replace(/:(\w+)/g, (_, name: string) =>
    isSecretParam.test(name) ? 'REDACTED' : encodeURIComponent(params[name] ?? ''),
  );
}

/** The span of a request, by the semantic conventions of HTTP. */
function requestSpan(request: IncomingMessage, route: string, params: PathParams) {
  return (): SpanOptions => {
    const method = request.method ?? '';
    const isRouted = route.startsWith('/');
    return {
      name: isRouted ? `${method} ${route}` : method,
      kind: 'server',
      attributes: {
        'http.request.method': method,
        'url.scheme': 'encrypted' in request.socket ? 'https' : 'http',
        'network.protocol.version': request.httpVersion,
        ...(isRouted ? { 'http.route': route, 'url.path': tracedPath(route, params) } : {}),
      },
    };
  };
}

/** Ends the span of a request. A request whose client disconnected before the response has failed; a stream may end at any time. */
function endSpan({ span, outcome, callerId, id }: RequestRecord, { headersSent, statusCode }: ServerResponse): void {
  if (span === undefined) return;
  span.set({ 'bunting.request_id': id, ...(callerId === undefined ? {} : { 'enduser.id': String(callerId) }) });
  if (headersSent) span.set({ 'http.response.status_code': statusCode });
  else span.fail('aborted');
  if (headersSent && statusCode >= 500) span.fail(outcome === 'ok' ? String(statusCode) : outcome);
  span.end();
}

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/**
 * Writes one log line and one metrics observation for each request, when its response has ended or its connection is closed.
 * @param onFinished called after each request
 */
export function accessLog(log: Logger, metrics: Registry, onFinished: (response: ServerResponse) => void) {
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
    endSpan(exchange, response);

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
      trace_id: exchange.traceparent.slice(3, 35),
      ...(exchange.span === undefined ? {} : { span_id: exchange.traceparent.slice(36, 52) }),
      ...(exchange.errorId === undefined ? {} : { errorId: exchange.errorId }),
      ...(exchange.libraryError === undefined ? {} : { libraryError: exchange.libraryError }),
      ...(exchange.defect === undefined ? {} : { err: exchange.defect }),
    });
  };

  return {
    /**
     * Starts the record of a request, which is logged when its response has ended or its connection is closed.
     * @param tracedParams the parameters of the path of a request that is traced
     */
    begin: (
      request: IncomingMessage,
      response: ServerResponse,
      facts: RequestFacts,
      tracedParams?: PathParams,
    ): RequestRecord => {
      const received = request.headers['traceparent'];
      const parent = typeof received === 'string' ? received : undefined;
      const span =
        tracedParams === undefined ? undefined : startSpan(requestSpan(request, facts.route, tracedParams), parent);
      const record = new RequestRecord(facts, span, parent);
      const end = () => {
        finish(request, response, record);
        onFinished(response);
      };
      if (response.destroyed) end();
      else response.once('close', end);
      return record;
    },
  };
}
export type AccessLog = ReturnType<typeof accessLog>;
