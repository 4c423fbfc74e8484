import { timingSafeEqual } from 'node:crypto';
import { type ErrorKind, refusal } from '@bunting/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  clientNetwork,
  closeAfterEarlyResponse,
  type ConcurrentRequestLimits,
  ordinaryJsonLimits,
  parseUntrustedJson,
  rateLimiter,
  readBody,
  RequestAborted,
  requireContentLengthWithin,
} from '@bunting/http';
import type { GatewayConfig } from '../../config.ts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { SecretHasher } from '../../unit-of-work/secrets.ts';
import type { Transaction, UnitOfWork } from '../../unit-of-work/unit-of-work.ts';
import { contextOutsideOperations, publicUrl } from '../../http/request-context.ts';
import { discoveryDocuments } from './discovery-documents.ts';
import {
  createScimGroup,
  deleteScimGroup,
  getScimGroup,
  groupResource,
  patchScimGroup,
  replaceScimGroup,
} from './scim-groups.ts';
import {
  attributesSelector,
  groupViewOf,
  pageOf,
  requireResourceId,
  scimCaller,
  ScimError,
  scimErrorBody,
  scimErrorOf,
} from './scim-request.ts';
import type { ScimSettingCache } from './scim-setting.ts';
import type { ScimPage, ScimQuery } from './scim-store.ts';
import {
  createScimUser,
  deleteScimUser,
  getScimUser,
  patchScimUser,
  replaceScimUser,
  userResource,
} from './scim-users.ts';

interface ScimAuthenticatorOptions {
  readonly config: Pick<GatewayConfig, 'GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE'>;
  readonly readSetting: ScimSettingCache['read'];
  readonly hasher: SecretHasher;
  readonly limits: Pick<ConcurrentRequestLimits, 'assignClient'>;
}

/**
 * Checks the token of the identity provider, and limits failures by network address.
 * @returns a check that throws `ScimError` 401, 429, or 403 while SCIM is turned off
 */
function scimAuthenticator({ config, readSetting, hasher, limits }: ScimAuthenticatorOptions) {
  const failures = rateLimiter(config.GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const [, token] = /^bearer +(\S{1,512})$/i.exec(request.headers.authorization?.trim() ?? '') ?? [];
    const stored = token === undefined ? undefined : await readSetting();
    const isValid = token !== undefined && stored?.secret != null && timingSafeEqual(hasher(token).hash, stored.secret);
    const address = clientNetwork(request.ip);
    if (!isValid) {
      const { waitSeconds } = failures.consume(address);
      if (waitSeconds > 0) {
        reply.header('retry-after', String(waitSeconds));
        throw new ScimError(
          429,
          `There were too many requests without a valid token from your address. Try again in ${waitSeconds} s.`,
        );
      }
      reply.header('www-authenticate', 'Bearer');
      throw new ScimError(
        401,
        'The request has no valid token of SCIM. Send the one that the settings of SCIM generated as a Bearer token.',
      );
    }
    if (stored?.value.enabled !== true)
      throw new ScimError(403, 'SCIM is turned off. An administrator can turn it on in its settings.');
    limits.assignClient(request, { id: 'scim', address });
  };
}

interface ScimRouterOptions extends ScimAuthenticatorOptions {
  readonly config: GatewayConfig;
  readonly limits: Pick<ConcurrentRequestLimits, 'assignClient' | 'bodyReceived'>;
  readonly transaction: UnitOfWork;
}

const contentType = 'application/scim+json; charset=utf-8';
const acceptedContentType = /^application\/(?:scim\+)?json\s*(?:;\s*charset="?utf-?8"?\s*)?$/i;
const rootPath = '/scim/v2';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface ScimContext {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** the URL of `/scim/v2` */
  readonly base: string;
  readonly run: <T>(job: (tx: Transaction) => Promise<T>) => Promise<T>;
}
type ScimResponse = readonly [status: number, body?: object];
type Handle = (context: ScimContext, body: unknown) => Promise<ScimResponse>;

/** The kind of error that the access log names for a response of SCIM. */
function outcomeOf({ status }: ScimError): ErrorKind {
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
}

function bodyReader(config: GatewayConfig, limits: Pick<ConcurrentRequestLimits, 'bodyReceived'>) {
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
}

function send(reply: FastifyReply, [status, body]: ScimResponse): FastifyReply {
  closeAfterEarlyResponse(reply);
  reply.code(status);
  return body === undefined ? reply.send() : reply.header('content-type', contentType).send(JSON.stringify(body));
}

/**
 * Mounts routes of SCIM. Each authenticates the identity provider, reads the body of a write, and sends the response of its handler, or the
 * error in the form of SCIM.
 */
function scimRouter(app: FastifyInstance, options: ScimRouterOptions) {
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
}
type ScimRouter = ReturnType<typeof scimRouter>;

export interface ScimOptions extends ScimRouterOptions {
  readonly reads: Pick<GatewayReads, 'scim'>;
}

/** The users or the groups, as the routes of both use them. */
interface Resources<R extends { readonly id: number }> {
  /** what a message calls one */
  readonly type: 'user' | 'group';
  readonly path: 'Users' | 'Groups';
  readonly resourceOf: (row: R, base: string) => object;
  readonly list: (page: ScimQuery, request: FastifyRequest) => Promise<ScimPage<R>>;
  readonly get: (id: number, request: FastifyRequest) => Promise<R>;
  readonly create: (tx: Transaction, body: unknown) => Promise<R>;
  readonly replace: (tx: Transaction, id: number, body: unknown) => Promise<R>;
  /** returns null where the response has no body */
  readonly patch: (tx: Transaction, id: number, body: unknown) => Promise<R | null>;
  readonly remove: (tx: Transaction, id: number) => Promise<null>;
}

function mountResources<R extends { readonly id: number }>(route: ScimRouter, resources: Resources<R>): void {
  const { type, path, resourceOf } = resources;
  const shown = ({ request, base }: ScimContext, row: R) => attributesSelector(request)(resourceOf(row, base));
  route('GET', `/${path}`, async (context) => {
    const page = pageOf(context.request);
    const { total, rows } = await resources.list(page, context.request);
    const list = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
      totalResults: total,
      startIndex: page.offset + 1,
      itemsPerPage: rows.length,
      Resources: rows.map((row) => shown(context, row)),
    };
    return [200, list];
  });
  route('POST', `/${path}`, async (context, body) => {
    const row = await context.run((tx) => resources.create(tx, body));
    context.reply.header('location', `${context.base}/${path}/${row.id}`);
    return [201, shown(context, row)];
  });
  const one = (method: Method, handle: (context: ScimContext, id: number, body: unknown) => Promise<R | null>): void =>
    route(method, `/${path}/:id`, async (context, body) => {
      const row = await handle(context, requireResourceId(type, context.request), body);
      return row === null ? [204] : [200, shown(context, row)];
    });
  one('GET', ({ request }, id) => resources.get(id, request));
  one('PUT', ({ run }, id, body) => run((tx) => resources.replace(tx, id, body)));
  one('PATCH', ({ run }, id, body) => run((tx) => resources.patch(tx, id, body)));
  one('DELETE', ({ run }, id) => run((tx) => resources.remove(tx, id)));
}

/** The methods at a path of users or groups; undefined for other paths. */
function methodsAt(path: string): string | undefined {
  if (path === 'Users' || path === 'Groups') return 'GET, POST';
  return /^(?:Users|Groups)\/[^/]+$/.test(path) ? 'GET, PUT, PATCH, DELETE' : undefined;
}

/** Mounts `/scim/v2`, by which an identity provider manages users and groups (RFC 7643, RFC 7644). */
export function mountScim(app: FastifyInstance, options: ScimOptions): void {
  const route = scimRouter(app, options);
  const { reads } = options;
  mountResources(route, {
    type: 'user',
    path: 'Users',
    resourceOf: userResource,
    list: (page) => reads.scim.listUsers(page),
    get: (id) => getScimUser(reads, id),
    create: createScimUser,
    replace: replaceScimUser,
    patch: patchScimUser,
    remove: deleteScimUser,
  });
  mountResources(route, {
    type: 'group',
    path: 'Groups',
    resourceOf: groupResource,
    list: (page, request) => reads.scim.listGroups(page, groupViewOf(request)),
    get: (id, request) => getScimGroup(reads, id, groupViewOf(request)),
    create: createScimGroup,
    replace: replaceScimGroup,
    patch: patchScimGroup,
    remove: deleteScimGroup,
  });
  route(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], '/*', async ({ request, reply, base }) => {
    const { '*': path = '' } = request.params as { '*'?: string };
    const document = discoveryDocuments(base).get(path);
    if (request.method === 'GET' && document !== undefined) return [200, document];
    if (/^(?:(?:Users|Groups)\/)?\.search$/.test(path))
      throw new ScimError(501, 'A search by POST is not supported: GET with a filter finds the same.');
    const methods = document === undefined ? methodsAt(path) : 'GET';
    if (methods === undefined)
      throw new ScimError(404, 'There is nothing at this address of SCIM. /ResourceTypes lists what there is.');
    reply.header('allow', methods);
    throw new ScimError(405, `${request.method} is not possible here. Possible: ${methods}.`);
  });
}
