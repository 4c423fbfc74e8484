import { type ErrorKind, refusal } from '@bunting/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ConcurrentRequestLimits } from '../admission/concurrent-requests.ts';
import type { GatewayConfig } from '../config.ts';
import { parseUntrustedJson, readBody, RequestAborted, requireContentLengthWithin } from '../http/request/body.ts';
import { ordinaryJsonLimits } from '../http/request/json-limits.ts';
import { contextOutsideOperations } from '../http/request/context-outside-operations.ts';
import { closeAfterEarlyResponse } from '../http/response/close-after-early-response.ts';
import { publicUrl } from '../http/request/public-url.ts';
import type { Transaction, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { scimAuthenticator, type ScimAuthenticatorOptions } from './scim-authenticator.ts';
import { scimCaller } from './scim-caller.ts';
import { ScimError, scimErrorBody, scimErrorOf } from './scim-error.ts';

export interface ScimRouterOptions extends ScimAuthenticatorOptions {
  readonly config: GatewayConfig;
  readonly limits: Pick<ConcurrentRequestLimits, 'assignClient' | 'bodyReceived'>;
  readonly transaction: UnitOfWork;
}

const contentType = 'application/scim+json; charset=utf-8';
const acceptedContentType = /^application\/(?:scim\+)?json\s*(?:;\s*charset="?utf-?8"?\s*)?$/i;
const rootPath = '/scim/v2';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ScimContext {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** the URL of `/scim/v2` */
  readonly base: string;
  readonly run: <T>(job: (tx: Transaction) => Promise<T>) => Promise<T>;
}
/** The status and the body of a response. */
export type ScimResponse = readonly [status: number, body?: object];
type Handle = (context: ScimContext, body: unknown) => Promise<ScimResponse>;

/** The kind of error that the access log names for a response of SCIM. */
const outcomeOf = ({ status }: ScimError): ErrorKind => {
  if (status >= 500 && status !== 501) return 'ServiceUnavailable';
  const kinds: Readonly<Record<number, ErrorKind>> = {
    401: 'AuthenticationRequired',
    403: 'ForbiddenError',
    404: 'NotFoundError',
    405: 'NotFoundError',
    409: 'NameExistsError',
    413: 'PayloadTooLarge',
    415: 'ContentTypeerror',
    429: 'RateLimitError',
    501: 'NotFoundError',
  };
  return kinds[status] ?? 'ValidationError';
};

const bodyReader = (config: GatewayConfig, limits: Pick<ConcurrentRequestLimits, 'bodyReceived'>) => {
  const jsonLimits = ordinaryJsonLimits(config);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { raw } = request;
    const { headers } = raw;
    if (
      !acceptedContentType.test(headers['content-type'] ?? '') ||
      (headers['content-encoding'] ?? 'identity') !== 'identity'
    )
      throw refusal('ContentTypeerror', 'The body must be application/scim+json in UTF-8, and not compressed.');
    const maxBytes = config.GATEWAY_MAX_BODY_BYTES;
    requireContentLengthWithin(raw, maxBytes);
    const bodyBytes = await readBody(raw, reply.raw, { maxBytes, timeoutMs: config.GATEWAY_BODY_TIMEOUT_MS });
    limits.bodyReceived(request);
    return parseUntrustedJson(bodyBytes, jsonLimits);
  };
};

const send = (reply: FastifyReply, [status, body]: ScimResponse): FastifyReply => {
  closeAfterEarlyResponse(reply);
  reply.code(status);
  return body === undefined ? reply.send() : reply.header('content-type', contentType).send(JSON.stringify(body));
};

/**
 * Mounts routes of SCIM. Each authenticates the identity provider, reads the body of a write, and sends the response of its handler, or the
 * error in the form of SCIM.
 */
export const scimRouter = (app: FastifyInstance, options: ScimRouterOptions) => {
  const { config, limits, transaction } = options;
  const authenticate = scimAuthenticator(options);
  const readJson = bodyReader(config, limits);

  const sendError = ({ exchange, id }: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply => {
    const expected = scimErrorOf(error);
    exchange.outcome = expected === undefined ? 'InternalError' : outcomeOf(expected);
    if (expected === undefined) exchange.defect = error;
    const scimError = expected ?? new ScimError(500, `Something went wrong. The log names the request ${id}.`);
    return send(reply, [scimError.status, scimErrorBody(scimError)]);
  };

  return (method: Method | Method[], path: string, handle: Handle): void => {
    const readsBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
    app.route({
      method,
      url: `${rootPath}${path}`,
      exposeHeadRoute: false,
      config: { isOperation: true },
      handler: async (request, reply) => {
        try {
          await authenticate(request, reply);
          request.exchange.callerId = scimCaller.id;
          const context: ScimContext = {
            request,
            reply,
            base: `${publicUrl(request, config)}${rootPath}`,
            run: (job) =>
              transaction(contextOutsideOperations(request, scimCaller, config.GATEWAY_CALL_TIMEOUT_MS), job),
          };
          const body = readsBody ? await readJson(request, reply) : undefined;
          return send(reply, await handle(context, body));
        } catch (error) {
          if (error instanceof RequestAborted) throw error;
          return sendError(request, reply, error);
        }
      },
    });
  };
};
export type ScimRouter = ReturnType<typeof scimRouter>;
