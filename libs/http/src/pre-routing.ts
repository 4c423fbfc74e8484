// Own code beside Fastify's hooks: a poll that an `onRequest` hook with `hijack` responds to costs 6 % (304), 2 % (full, gzip) and 10 % (one
// feature) more CPU, and one that is routed as any other request 28 to 42 % more.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { UnreadResponses } from './admission/unread-responses.ts';
import { type AccessLog, requestIdOf } from './access-log.ts';
import { variesByOrigin } from './response/headers.ts';
import { checkRequestHead } from './request/head.ts';
import type { HttpSettings } from './settings.ts';

/** A response that is made before routing, for a request that needs no hook of Fastify. */
export interface PreRoutingResponse {
  /** the path of the operation, with the names of its parameters */
  readonly route: string;
  readonly callerId: number;
  /** the client under which the bytes of the response are counted until it reads them */
  readonly clientKey: string;
  /** undefined where the request has to be routed after all */
  readonly content: PreRoutingContent | undefined | Promise<PreRoutingContent | undefined>;
  /** stops counting the request among the concurrent ones; called before the response is handed over */
  readonly release: () => void;
}

export interface PreRoutingContent {
  readonly status: number;
  /** names and values, alternating */
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
}

export type RespondBeforeRouting = (request: IncomingMessage) => PreRoutingResponse | undefined;

export interface PreRoutingOptions {
  readonly config: HttpSettings;
  /** the headers that every response has */
  readonly headers: Readonly<Record<string, string>>;
  readonly unread: UnreadResponses;
  readonly draining: AbortSignal;
  readonly begin: AccessLog['begin'];
  /** called with each response, before its content is known */
  readonly trackResponse: (response: ServerResponse) => void;
  readonly respond: RespondBeforeRouting;
}

/** Sends the response of `respond`, with the headers and the log line that every response has; routes requests for which it has none. */
export function preRouting({ config, headers, unread, draining, begin, trackResponse, respond }: PreRoutingOptions) {
  const flatHeaders = Object.entries(headers).flat();
  const varies = variesByOrigin(config);
  return (handler: RequestListener): RequestListener =>
    (request, response) => {
      const startedAt = performance.now();
      // A request with an `Origin`, or beyond the limits of its head, is left to the routes, which set CORS headers or refuse it.
      const isOrdinary = request.headers.origin === undefined && checkRequestHead(request, config) === undefined;
      const preRouted = isOrdinary ? respond(request) : undefined;
      if (preRouted === undefined) return handler(request, response);
      const { route, callerId, clientKey, release } = preRouted;
      trackResponse(response);
      const send = (content: PreRoutingContent | undefined): void => {
        release();
        // A request whose client has disconnected is logged and not routed: a route releases its permits when the connection closes, which
        // has already happened.
        if (content === undefined && !response.destroyed) return handler(request, response);
        const id = requestIdOf(request);
        const record = begin(request, response, { id, route, startedAt, callerId });
        if (content === undefined || response.destroyed) return;
        const { status, body } = content;
        const allHeaders = [...flatHeaders, ...content.headers, 'x-request-id', id];
        if (varies) allHeaders.push('vary', 'Origin');
        if (draining.aborted) allHeaders.push('connection', 'close');
        if (body !== undefined) {
          allHeaders.push('content-length', String(body.length));
          unread.add(response, clientKey, body.length, { shared: body });
        }
        try {
          response.writeHead(status, allHeaders).end(body);
        } catch (error) {
          record.defect = error;
          response.destroy();
        }
      };
      if (!(preRouted.content instanceof Promise)) return send(preRouted.content);
      preRouted.content.then(send, () => send(undefined));
    };
}
