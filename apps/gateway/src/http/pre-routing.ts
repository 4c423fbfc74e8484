import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { UnreadResponses } from '../admission/unread-responses.ts';
import type { GatewayConfig } from '../config.ts';
import { type AccessLog, requestIdOf } from '../monitoring/access-log.ts';
import { variesByOrigin } from './cors.ts';
import { oversizedHeadRefusal } from './request/oversized-head-refusal.ts';

/** The response to a request that needs none of what routes do. */
export interface PreRoutingResponse {
  /** the path of the operation, with the names of its parameters */
  readonly route: string;
  readonly callerId: number;
  /** the client under which bytes that are not read are counted */
  readonly clientKey: string;
  /** undefined where the request has to be routed after all */
  readonly content: PreRoutingContent | undefined | Promise<PreRoutingContent | undefined>;
  /** called before the response is handed over */
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
  readonly config: GatewayConfig;
  /** of every response */
  readonly headers: Readonly<Record<string, string>>;
  readonly unread: UnreadResponses;
  readonly draining: AbortSignal;
  readonly begin: AccessLog['begin'];
  /** called with each response, before its content is known */
  readonly opened: (response: ServerResponse) => void;
  readonly respond: RespondBeforeRouting;
}

/** Sends the response of `respond`, with all that every response has; routes other requests. */
export const preRouting = ({ config, headers, unread, draining, begin, opened, respond }: PreRoutingOptions) => {
  const flatHeaders = Object.entries(headers).flat();
  const varies = variesByOrigin(config);
  return (handler: RequestListener): RequestListener =>
    (request, response) => {
      const startedAt = performance.now();
      // Responses that depend on the origin, and those that are refused, are made by routes.
      const isOrdinary = request.headers.origin === undefined && oversizedHeadRefusal(request, config) === undefined;
      const preRouted = isOrdinary ? respond(request) : undefined;
      if (preRouted === undefined) return handler(request, response);
      const { route, callerId, clientKey, release } = preRouted;
      opened(response);
      const send = (content: PreRoutingContent | undefined): void => {
        release();
        // A request whose client has disconnected is logged and not routed: a route releases its permits when the connection closes, which
        // has already happened.
        if (content === undefined && !response.destroyed) return handler(request, response);
        const id = requestIdOf(request);
        const record = begin(request, response, { id, route, startedAt, callerId });
        if (content === undefined || response.destroyed) return;
        const { status, body } = content;
        const all = [...flatHeaders, ...content.headers, 'x-request-id', id];
        if (varies) all.push('vary', 'Origin');
        if (draining.aborted) all.push('connection', 'close');
        if (body !== undefined) {
          all.push('content-length', String(body.length));
          unread.add(response, clientKey, body.length, { shared: body });
        }
        try {
          response.writeHead(status, all).end(body);
        } catch (error) {
          record.defect = error;
          response.destroy();
        }
      };
      if (!(preRouted.content instanceof Promise)) return send(preRouted.content);
      preRouted.content.then(send, () => send(undefined));
    };
};
