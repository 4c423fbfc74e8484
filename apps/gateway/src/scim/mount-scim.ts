import { type ErrorKind, refusal } from '@bunting/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { timingSafeEqual } from 'node:crypto';
import { clientNetwork } from '../admission/admit.ts';
import type { RequestLimits } from '../admission/concurrent-request-limits.ts';
import { rateLimiter } from '../admission/rate-limit.ts';
import type { GatewayConfig } from '../config.ts';
import { closeAfterResponse } from '../http/response/raw-response.ts';
import { parseJson, readBody, RequestAborted, requireContentLengthWithin } from '../http/request/body.ts';
import { transactionContextOf } from '../http/request/transaction-context.ts';
import { publicUrl } from '../identity/public-url.ts';
import type { SignInSettings } from '../identity/sign-in-settings.ts';
import type { GroupView, ScimQuery } from '../persistence/identity/scim-repository.ts';
import type { TokenHasher } from '../persistence/tokens/token-hasher.ts';
import type { GatewayReads } from '../persistence/reads.ts';
import type { Transaction, UnitOfWork } from '../persistence/unit-of-work.ts';
import {
  createGroup,
  createUser,
  deleteGroup,
  deleteUser,
  getGroup,
  getUser,
  patchGroup,
  patchUser,
  replaceGroup,
  replaceUser,
  scimCaller,
} from './provision.ts';
import { defaultPageSize, discoveryDocuments, maxPageSize } from './scim-discovery.ts';
import { notFoundResource, ScimError, scimErrorBody, scimErrorOf } from './scim-error.ts';
import { groupResource, parseResourceId } from './scim-group.ts';
import { userResource } from './scim-user.ts';

export interface ScimRoutesOptions {
  readonly config: GatewayConfig;
  readonly readSetting: SignInSettings['readScim'];
  readonly hasher: TokenHasher;
  readonly limits: Pick<RequestLimits, 'assignClient' | 'bodyReceived'>;
  readonly transaction: UnitOfWork;
  readonly reads: Pick<GatewayReads, 'scim'>;
}

const contentType = 'application/scim+json; charset=utf-8';
const acceptedContentType = /^application\/(?:scim\+)?json\s*(?:;\s*charset="?utf-?8"?\s*)?$/i;
const root = '/scim/v2';

type Run = <T>(job: (tx: Transaction) => Promise<T>) => Promise<T>;
interface Context {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** the address of `/scim/v2` */
  readonly base: string;
  readonly run: Run;
}
/** The status and the body of a response. */
type ScimResponse = readonly [status: number, body?: object];

const queryOf = ({ query }: FastifyRequest): URLSearchParams =>
  new URLSearchParams((query as { search: string }).search);

const countIn = (text: string | null, otherwise: number): number => {
  if (text === null) return otherwise;
  if (!/^-?\d{1,9}$/.test(text)) throw new ScimError(400, 'startIndex and count must be integers.', 'invalidValue');
  return Number(text);
};

/** The requested page of a list (RFC 7644, 3.4.2.4): an index below 1 counts as 1, a count below 0 as 0. */
const pageIn = (query: URLSearchParams): ScimQuery => ({
  filter: query.get('filter'),
  offset: Math.max(1, countIn(query.get('startIndex'), 1)) - 1,
  limit: Math.min(maxPageSize, Math.max(0, countIn(query.get('count'), defaultPageSize))),
});

const namesIn = (text: string | null): string[] =>
  (text ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());

/** What a request for groups reads of them. */
const groupViewOf = (query: URLSearchParams): GroupView => {
  const wanted = query.get('attributes');
  return {
    hasMembers:
      wanted === null
        ? !namesIn(query.get('excludedAttributes')).includes('members')
        : namesIn(wanted).some((name) => name.startsWith('members')),
  };
};

const listResponse = (total: number, { offset }: ScimQuery, resources: readonly object[]): ScimResponse => [
  200,
  {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: resources.length,
    Resources: resources,
  },
];

const idOf = (type: string, { params }: FastifyRequest): number => {
  const { id = '' } = params as { id?: string };
  const found = parseResourceId(id);
  if (found === undefined) throw notFoundResource(type, id);
  return found;
};

/** How the access log names a response. */
const outcomeOf = ({ status }: ScimError): ErrorKind => {
  if (status >= 500) return 'ServiceUnavailable';
  const kinds: Readonly<Record<number, ErrorKind>> = {
    401: 'AuthenticationRequired',
    403: 'ForbiddenError',
    404: 'NotFoundError',
    409: 'NameExistsError',
    413: 'PayloadTooLarge',
    415: 'ContentTypeerror',
    429: 'RateLimitError',
  };
  return kinds[status] ?? 'ValidationError';
};

/** Mounts `/scim/v2`, by which an identity provider manages users and groups (RFC 7643, RFC 7644). */
export const mountScim = (app: FastifyInstance, options: ScimRoutesOptions): void => {
  const { config, readSetting, hasher, limits, transaction, reads } = options;
  const perMinute = config.GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE;
  const failures = perMinute === 0 ? undefined : rateLimiter(perMinute);
  const jsonLimits = {
    depth: config.GATEWAY_MAX_JSON_DEPTH,
    members: config.GATEWAY_MAX_JSON_MEMBERS,
    items: config.GATEWAY_MAX_JSON_ITEMS,
    values: config.GATEWAY_MAX_JSON_VALUES,
  };

  const authenticate = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const [, token] = /^bearer +(\S{1,512})$/i.exec(request.headers.authorization?.trim() ?? '') ?? [];
    const stored = token === undefined ? undefined : await readSetting();
    const isValid = token !== undefined && stored?.secret != null && timingSafeEqual(hasher(token).hash, stored.secret);
    const address = clientNetwork(request.ip);
    if (!isValid) {
      const waitSeconds = failures?.consume(address).waitSeconds ?? 0;
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

  const bodyOf = async ({ request, reply }: Pick<Context, 'request' | 'reply'>): Promise<unknown> => {
    const { raw } = request;
    const { headers } = raw;
    if (
      !acceptedContentType.test(headers['content-type'] ?? '') ||
      (headers['content-encoding'] ?? 'identity') !== 'identity'
    )
      throw refusal('ContentTypeerror', 'The body must be application/scim+json in UTF-8, and not compressed.');
    const maxBytes = config.GATEWAY_MAX_BODY_BYTES;
    requireContentLengthWithin(raw, maxBytes);
    const received = await readBody(raw, reply.raw, { maxBytes, timeoutMs: config.GATEWAY_BODY_TIMEOUT_MS });
    limits.bodyReceived(request);
    return parseJson(received, jsonLimits);
  };

  const send = (reply: FastifyReply, [status, body]: ScimResponse): FastifyReply => {
    closeAfterResponse(reply);
    reply.code(status);
    return body === undefined ? reply.send() : reply.header('content-type', contentType).send(JSON.stringify(body));
  };

  type Handle = (context: Context, body: unknown) => Promise<ScimResponse>;
  const route = (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[],
    path: string,
    handle: Handle,
  ): void => {
    const readsBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
    app.route({
      method,
      url: `${root}${path}`,
      exposeHeadRoute: false,
      config: { isOperation: true },
      handler: async (request, reply) => {
        const { exchange } = request;
        try {
          await authenticate(request, reply);
          exchange.callerId = scimCaller.id;
          const context: Context = {
            request,
            reply,
            base: `${publicUrl(request, config)}${root}`,
            run: (job) => transaction(transactionContextOf(request, scimCaller, config.GATEWAY_CALL_TIMEOUT_MS), job),
          };
          const body = readsBody ? await bodyOf(context) : undefined;
          return send(reply, await handle(context, body));
        } catch (error) {
          if (error instanceof RequestAborted) throw error;
          const fault = scimErrorOf(error);
          exchange.outcome = fault === undefined ? 'InternalError' : outcomeOf(fault);
          if (fault === undefined) exchange.defect = error;
          const shown = fault ?? new ScimError(500, `Something went wrong. The log names the request ${request.id}.`);
          return send(reply, [shown.status, scimErrorBody(shown)]);
        }
      },
    });
  };

  route('GET', '/Users', async ({ request, base }) => {
    const page = pageIn(queryOf(request));
    const { total, rows } = await reads.scim.listUsers(page);
    return listResponse(
      total,
      page,
      rows.map((row) => userResource(row, base)),
    );
  });
  route('GET', '/Users/:id', async ({ request, base }) => {
    return [200, userResource(await getUser(reads, idOf('user', request)), base)];
  });
  route('POST', '/Users', async ({ reply, base, run }, body) => {
    const row = await run((tx) => createUser(tx, body));
    reply.header('location', `${base}/Users/${row.id}`);
    return [201, userResource(row, base)];
  });
  route('PUT', '/Users/:id', async ({ request, base, run }, body) => {
    const id = idOf('user', request);
    return [200, userResource(await run((tx) => replaceUser(tx, id, body)), base)];
  });
  route('PATCH', '/Users/:id', async ({ request, base, run }, body) => {
    const id = idOf('user', request);
    return [200, userResource(await run((tx) => patchUser(tx, id, body)), base)];
  });
  route('DELETE', '/Users/:id', async ({ request, run }) => {
    const id = idOf('user', request);
    await run((tx) => deleteUser(tx, id));
    return [204];
  });

  route('GET', '/Groups', async ({ request, base }) => {
    const query = queryOf(request);
    const page = pageIn(query);
    const { total, rows } = await reads.scim.listGroups(page, groupViewOf(query));
    return listResponse(
      total,
      page,
      rows.map((row) => groupResource(row, base)),
    );
  });
  route('GET', '/Groups/:id', async ({ request, base }) => {
    const group = await getGroup(reads, idOf('group', request), groupViewOf(queryOf(request)));
    return [200, groupResource(group, base)];
  });
  route('POST', '/Groups', async ({ reply, base, run }, body) => {
    const row = await run((tx) => createGroup(tx, body));
    reply.header('location', `${base}/Groups/${row.id}`);
    return [201, groupResource(row, base)];
  });
  route('PUT', '/Groups/:id', async ({ request, base, run }, body) => {
    const id = idOf('group', request);
    return [200, groupResource(await run((tx) => replaceGroup(tx, id, body)), base)];
  });
  route('PATCH', '/Groups/:id', async ({ request, run }, body) => {
    const id = idOf('group', request);
    await run((tx) => patchGroup(tx, id, body));
    return [204];
  });
  route('DELETE', '/Groups/:id', async ({ request, run }) => {
    const id = idOf('group', request);
    await run((tx) => deleteGroup(tx, id));
    return [204];
  });

  route(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], '/*', async ({ request, base }) => {
    const { '*': path = '' } = request.params as { '*'?: string };
    const document = request.method === 'GET' ? discoveryDocuments(base).get(path) : undefined;
    if (document === undefined)
      throw new ScimError(404, 'There is nothing at this address of SCIM. /ResourceTypes lists what there is.');
    return [200, document];
  });
};
