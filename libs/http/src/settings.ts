import { maxDepth } from '@bunting/contracts';
import { type Static, type TObject, Type } from 'typebox';

/** The settings of an HTTP server, which gateways and edges have under the same names. */
export const httpSettings = {
  GATEWAY_MAX_BODY_BYTES: Type.Integer({
    minimum: 1_024,
    default: 1_048_576,
    description: 'maximum bytes of a request body',
  }),
  GATEWAY_MAX_LARGE_BODY_BYTES: Type.Integer({
    minimum: 1_024,
    default: 10_485_760,
    description: 'maximum bytes of the body of an import or a usage report of a server',
  }),
  GATEWAY_MAX_JSON_DEPTH: Type.Integer({
    minimum: 1,
    maximum: maxDepth,
    default: maxDepth,
    description: 'maximum nesting depth of objects and arrays in a request body',
  }),
  GATEWAY_MAX_JSON_MEMBERS: Type.Integer({
    minimum: 1,
    default: 1_000,
    description: 'maximum members of one object in a request body',
  }),
  GATEWAY_MAX_JSON_ITEMS: Type.Integer({
    minimum: 1,
    default: 10_000,
    description: 'maximum items of one array in a request body',
  }),
  GATEWAY_MAX_JSON_VALUES: Type.Integer({
    minimum: 1,
    default: 100_000,
    description: 'maximum values in a request body, objects and arrays included',
  }),
  GATEWAY_MAX_LARGE_JSON_ITEMS: Type.Integer({
    minimum: 1,
    default: 200_000,
    description:
      'maximum items of one array in the body of an import or a usage report of a server, and maximum flags of such a report',
  }),
  GATEWAY_MAX_LARGE_JSON_VALUES: Type.Integer({
    minimum: 1,
    default: 2_000_000,
    description: 'maximum values in the body of an import or a usage report of a server',
  }),
  GATEWAY_MAX_URL_BYTES: Type.Integer({
    minimum: 256,
    default: 8_192,
    description: 'maximum bytes of the URL of a request, its query included; 414 beyond',
  }),
  GATEWAY_MAX_QUERY_PARAMETERS: Type.Integer({
    minimum: 1,
    default: 200,
    description: 'maximum query parameters of a request; 414 beyond',
  }),
  GATEWAY_MAX_HEADER_BYTES: Type.Integer({
    minimum: 1_024,
    maximum: 1_048_576,
    default: 16_384,
    description: 'maximum bytes of the headers of a request, its URL included; 431 beyond',
  }),
  GATEWAY_MAX_HEADERS: Type.Integer({
    minimum: 16,
    default: 100,
    description: 'maximum number of headers of a request; 431 beyond',
  }),
  GATEWAY_HEADERS_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 15_000,
    description: 'milliseconds in which the headers of a request must arrive; 408 beyond',
  }),
  GATEWAY_BODY_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 15_000,
    description: 'milliseconds in which the body of a request must arrive after its headers; 408 beyond',
  }),
  GATEWAY_LARGE_BODY_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 60_000,
    description: 'the same for an import or a usage report of a server',
  }),
  GATEWAY_MAX_INCOMING_REQUESTS: Type.Integer({
    minimum: 1,
    default: 1_024,
    description: 'maximum requests whose bodies arrive concurrently; 503 beyond',
  }),
  GATEWAY_MAX_INCOMING_REQUESTS_PER_CLIENT: Type.Integer({
    minimum: 1,
    default: 128,
    description: 'of these, those of one user or API token; for frontend tokens, those of one address; 429 beyond',
  }),
  GATEWAY_MAX_INCOMING_REQUESTS_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 256,
    description: 'of these, those from one address, or one /64 network of IPv6; 429 beyond',
  }),
  GATEWAY_KEEP_ALIVE_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 72_000,
    description:
      'milliseconds that a connection may stay idle; must be longer than the keep-alive timeout of a load balancer in front',
  }),
  GATEWAY_MAX_REQUESTS_PER_MINUTE: Type.Integer({
    minimum: 0,
    default: 0,
    description:
      'maximum requests per minute of one token that is no frontend token, per gateway; 429 beyond; 0 disables the limit',
  }),
  GATEWAY_MAX_FRONTEND_REQUESTS_PER_MINUTE: Type.Integer({
    minimum: 0,
    default: 6_000,
    description:
      'maximum requests per minute with frontend tokens from one address, per gateway; every 16 KiB of a body count as one more; 429 beyond; 0 disables the limit',
  }),
  GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: Type.Integer({
    minimum: 0,
    default: 600,
    description:
      'maximum requests per minute without a valid token from one address, and for each page that needs none; 429 beyond, while valid tokens are still accepted; 0 disables the limit',
  }),
  GATEWAY_TRUSTED_PROXIES: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F.:/, ]+$',
      description:
        'addresses and networks of the proxies whose X-Forwarded-For is trusted, comma-separated; none by default',
    }),
  ),
  GATEWAY_BEHIND_TLS: Type.Boolean({
    default: false,
    description:
      'whether clients reach Bunting over TLS only; responses then carry Strict-Transport-Security, and session cookies are Secure',
  }),
  GATEWAY_CORS_ORIGINS: Type.String({
    origins: true,
    default: '',
    description: 'origins whose pages may call the API from a browser, comma-separated; none by default',
  }),
  GATEWAY_FRONTEND_CORS_ORIGINS: Type.String({
    origins: true,
    default: '*',
    description:
      'origins whose pages may evaluate features below /api/frontend and /ofrep, comma-separated; `*` for every origin',
  }),
  GATEWAY_MAX_CONCURRENT_REQUESTS: Type.Integer({
    minimum: 1,
    default: 1_024,
    description:
      'maximum concurrent requests, counted from the arrival of the body until the response is handed over; excess is rejected with 503, health checks excepted',
  }),
  GATEWAY_MAX_CONCURRENT_REQUESTS_PER_CLIENT: Type.Integer({
    minimum: 1,
    default: 256,
    description: 'of these, those of one user or API token; for frontend tokens, those of one address; 429 beyond',
  }),
  GATEWAY_MAX_CONNECTIONS: Type.Integer({
    minimum: 0,
    default: 0,
    description:
      'maximum open connections of clients; further ones are closed as soon as they are opened; 0 for as many as the limit of open files leaves, less 256',
  }),
  GATEWAY_MAX_UNREAD_RESPONSE_BYTES: Type.Integer({
    minimum: 1_048_576,
    default: 134_217_728,
    description:
      'maximum bytes of responses buffered until clients read them; beyond, the client with most of them loses its oldest connections',
  }),
  GATEWAY_RESPONSE_READ_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 30_000,
    description:
      'milliseconds that a client has to read a response, plus one second for each 64 KiB; the connection ends beyond',
  }),
  GATEWAY_CALL_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 10_000,
    description: 'timeout in milliseconds of a call to a service',
  }),
  GATEWAY_LARGE_CALL_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 60_000,
    description:
      'timeout in milliseconds of a call to a service for an import, a usage report, or a change of many features',
  }),
};
export type HttpSettings = Static<TObject<typeof httpSettings>>;
