import { databaseSettings, outboxSettings } from '@bunting/runtime';
import { maxDepth } from '@bunting/contracts';
import { type Static, Type } from 'typebox';

/** Everything that the gateway reads from its environment. */
export const GatewayConfig = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 4242, description: 'port of the API; 0 takes a free one' }),
  GATEWAY_HOST: Type.String({ minLength: 1, default: '0.0.0.0', description: 'address that the API listens on' }),
  GATEWAY_PUBLIC_URL: Type.String({
    default: '',
    description: 'where people find Bunting; user interfaces of Unleash show it to those who connect an SDK',
  }),
  ...databaseSettings('GATEWAY', { poolMax: 8, minPoolMax: 4, statementTimeoutMs: 5_000 }),
  ...outboxSettings('GATEWAY'),
  BUNTING_ADMIN_TOKEN: Type.Optional(
    Type.String({
      secret: true,
      pattern: '^[!-~]{16,256}$',
      description:
        'an admin token that works from the start, 16 to 256 visible characters; another value revokes the earlier one; without it the first start makes one up',
    }),
  ),
  INIT_ADMIN_API_TOKENS: Type.Optional(
    Type.String({
      secret: true,
      description:
        'admin tokens, `*:*.<secret>` with commas between them, that a first start makes instead of one of its own',
    }),
  ),
  INIT_CLIENT_API_TOKENS: Type.Optional(
    Type.String({
      secret: true,
      description:
        'tokens of applications, `<project>:<environment>.<secret>` with commas between them, that a first start makes',
    }),
  ),
  INIT_FRONTEND_API_TOKENS: Type.Optional(
    Type.String({
      secret: true,
      description:
        'tokens of browsers and apps, `<project>:<environment>.<secret>` with commas between them, that a first start makes',
    }),
  ),
  GATEWAY_TOKEN_KEY: Type.Optional(
    Type.String({
      secret: true,
      minLength: 32,
      description: 'the key that tokens are hashed with; without it one is made up and kept in the database',
    }),
  ),
  GATEWAY_READABLE_SDK_TOKENS: Type.Boolean({
    default: false,
    description:
      'whether secrets of client and frontend tokens are kept encrypted as well, and listed to those who may create such tokens; needs GATEWAY_TOKEN_KEY',
  }),
  GATEWAY_TOKEN_CACHE_MS: Type.Integer({
    minimum: 0,
    maximum: 5_000,
    default: 2_000,
    description:
      'milliseconds for which a token is not looked up again; so long a revoked one may still work where the revocation is not heard of',
  }),
  GATEWAY_LAST_USE_INTERVAL_MS: Type.Integer({
    minimum: 100,
    default: 10_000,
    description: 'milliseconds between two times that it is written down when tokens were last used',
  }),
  GATEWAY_PROJECTS_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description:
      'milliseconds between polls of the features service for changes of projects; a commit announces itself',
  }),
  GATEWAY_PROJECTS_WAIT_MS: Type.Integer({
    minimum: 0,
    default: 2_000,
    description:
      'milliseconds that the answer to a change of a project waits for the gateway to have learned who may see the project now',
  }),
  GATEWAY_BODY_LIMIT_BYTES: Type.Integer({
    minimum: 1_024,
    default: 1_048_576,
    description: 'bytes that the body of a request may have',
  }),
  GATEWAY_LARGE_BODY_LIMIT_BYTES: Type.Integer({
    minimum: 1_024,
    default: 10_485_760,
    description: 'bytes that the body of an import or a report of usage by a server may have',
  }),
  GATEWAY_JSON_DEPTH: Type.Integer({
    minimum: 1,
    maximum: maxDepth,
    default: maxDepth,
    description: 'how many objects and lists may stand within one another in the body of a request',
  }),
  GATEWAY_JSON_MEMBERS: Type.Integer({
    minimum: 1,
    default: 1_000,
    description: 'members that one object in a body may have',
  }),
  GATEWAY_JSON_ITEMS: Type.Integer({
    minimum: 1,
    default: 10_000,
    description: 'items that one list in a body may have',
  }),
  GATEWAY_JSON_VALUES: Type.Integer({
    minimum: 1,
    default: 100_000,
    description: 'values, objects and lists among them, that a body may hold altogether',
  }),
  GATEWAY_LARGE_JSON_ITEMS: Type.Integer({
    minimum: 1,
    default: 200_000,
    description: 'items that one list in the body of an import or a report of usage by a server may have',
  }),
  GATEWAY_LARGE_JSON_VALUES: Type.Integer({
    minimum: 1,
    default: 2_000_000,
    description: 'values that the body of an import or a report of usage by a server may hold altogether',
  }),
  GATEWAY_URL_BYTES: Type.Integer({
    minimum: 256,
    default: 8_192,
    description: 'bytes that the address of a request may have, its query included; 414 beyond',
  }),
  GATEWAY_QUERY_PARAMETERS: Type.Integer({
    minimum: 1,
    default: 200,
    description: 'parameters that the query of a request may have; 414 beyond',
  }),
  GATEWAY_HEADERS_BYTES: Type.Integer({
    minimum: 1_024,
    maximum: 1_048_576,
    default: 16_384,
    description: 'bytes that the headers of a request may have, its address included; 431 beyond',
  }),
  GATEWAY_HEADERS: Type.Integer({
    minimum: 16,
    default: 100,
    description: 'headers that a request may have; 431 beyond',
  }),
  GATEWAY_HEADERS_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 15_000,
    description: 'milliseconds in which the headers of a request must have arrived; 408 beyond',
  }),
  GATEWAY_ARRIVAL_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 15_000,
    description: 'milliseconds in which the body of a request must have arrived after its headers; 408 beyond',
  }),
  GATEWAY_LARGE_ARRIVAL_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 60_000,
    description: 'the same for an import or a report of usage by a server',
  }),
  GATEWAY_ARRIVING_REQUESTS: Type.Integer({
    minimum: 1,
    default: 1_024,
    description: 'requests whose body may be arriving at the same time; 503 beyond',
  }),
  GATEWAY_ARRIVING_REQUESTS_PER_CLIENT: Type.Integer({
    minimum: 1,
    default: 128,
    description: 'of these, those of one user or API token; for frontend keys, those of one address; 429 beyond',
  }),
  GATEWAY_ARRIVING_REQUESTS_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 256,
    description: 'of these, those from one address, or one /64 network of IPv6; 429 beyond',
  }),
  GATEWAY_IDLE_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 72_000,
    description:
      'milliseconds that a connection may have nothing to do; longer than balancers in front of it keep theirs',
  }),
  GATEWAY_REQUESTS_PER_MINUTE: Type.Integer({
    minimum: 0,
    default: 0,
    description: 'requests that one key may make in a minute, of each gateway; 429 beyond; 0 for as many as it likes',
  }),
  GATEWAY_FRONTEND_REQUESTS_PER_MINUTE: Type.Integer({
    minimum: 0,
    default: 6_000,
    description:
      'requests with frontend keys that one address may make in a minute, of each gateway; every 16 KiB of a body count as one more; 429 beyond; 0 for as many as it likes',
  }),
  GATEWAY_FAILURES_PER_MINUTE: Type.Integer({
    minimum: 0,
    default: 600,
    description:
      'requests without a valid key that one address may make in a minute, and requests for each page that needs none; 429 beyond, while valid keys are let in; 0 for as many as it likes',
  }),
  GATEWAY_TRUSTED_PROXIES: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F.:/, ]+$',
      description:
        'addresses and networks of the proxies whose X-Forwarded-For is believed, comma-separated; without it, nobody’s',
    }),
  ),
  GATEWAY_BEHIND_TLS: Type.Boolean({
    default: false,
    description: 'whether clients reach Bunting over TLS alone; then answers say so (Strict-Transport-Security)',
  }),
  GATEWAY_CORS_ORIGINS: Type.String({
    origins: true,
    default: '',
    description: 'origins whose pages may call the API from a browser, comma-separated; none without it',
  }),
  GATEWAY_FRONTEND_CORS_ORIGINS: Type.String({
    origins: true,
    default: '*',
    description:
      'origins whose pages may have features evaluated below /api/frontend, comma-separated; `*` for every one, as far as their key goes',
  }),
  GATEWAY_REQUESTS_AT_ONCE: Type.Integer({
    minimum: 1,
    default: 1_024,
    description:
      'requests that are handled at the same time, from the arrival of their body until the answer is handed over; 503 beyond, health excepted',
  }),
  GATEWAY_REQUESTS_AT_ONCE_PER_CLIENT: Type.Integer({
    minimum: 1,
    default: 256,
    description: 'of these, those of one user or API token; for frontend keys, those of one address; 429 beyond',
  }),
  GATEWAY_UNREAD_BYTES: Type.Integer({
    minimum: 1_048_576,
    default: 134_217_728,
    description:
      'bytes of answers that may wait for clients to read them; beyond, the client with most of them loses its oldest connections',
  }),
  GATEWAY_READING_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 30_000,
    description:
      'milliseconds that a client has to read an answer, and one second more for each 64 KiB; the connection ends beyond',
  }),
  GATEWAY_REQUEST_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 10_000,
    description: 'milliseconds that a service has for its answer',
  }),
  GATEWAY_LARGE_REQUEST_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 60_000,
    description: 'milliseconds that a service has for an import or a report of usage',
  }),
  GATEWAY_STREAM_SECONDS: Type.Integer({
    minimum: 1,
    default: 3_600,
    description: 'seconds after which a stream of events ends; whoever reads it asks for what follows',
  }),
});
export type GatewayConfig = Static<typeof GatewayConfig>;
