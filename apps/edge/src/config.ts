import { deliverySettings } from '@bunting/delivery';
import { httpSettings, splitCommaSeparated } from '@bunting/http';
import { type Static, Type } from 'typebox';

const {
  // An edge has the names of Unleash Edge for these.
  GATEWAY_TRUSTED_PROXIES: _trustedProxies,
  GATEWAY_CORS_ORIGINS: _corsOrigins,
  GATEWAY_FRONTEND_CORS_ORIGINS: _frontendCorsOrigins,
  GATEWAY_CALL_TIMEOUT_MS: _callTimeout,
  GATEWAY_LARGE_CALL_TIMEOUT_MS: _largeCallTimeout,
  ...httpLimits
} = httpSettings;

function seconds(defaultSeconds: number, description: string) {
  return Type.Integer({ minimum: 1, maximum: 86_400, default: defaultSeconds, description });
}

/** Settings of an edge: those of Unleash Edge under its names, and limits under those of gateways. */
export const EdgeConfig = Type.Object({
  UPSTREAM_URL: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description: 'address of the origin, Bunting, Unleash or another edge, without `/api`; required unless OFFLINE',
    }),
  ),
  TOKENS: Type.Optional(
    Type.String({
      secret: true,
      description: 'client tokens, and frontend tokens, comma-separated, whose features are fetched from the start',
    }),
  ),
  STRICT: Type.Optional(
    Type.Boolean({
      description:
        'whether only tokens are accepted that are in TOKENS or within the environment and projects of one of them; requires TOKENS. Otherwise every token that the origin calls valid is accepted. `true` unless DYNAMIC',
    }),
  ),
  DYNAMIC: Type.Boolean({ default: false, description: 'the same as `STRICT=false`' }),
  STREAMING: Type.Boolean({
    default: true,
    description: 'whether the edge follows an origin by its stream where the origin has one',
  }),
  DELTA: Type.Boolean({
    default: true,
    description:
      'whether the edge polls an origin that it does not stream from for changes only, where that has deltas',
  }),
  BACKUP_FOLDER: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'folder for snapshots, known tokens and unsent metrics, from which a restart without the origin serves; it holds tokens: only the user of the edge may read it',
    }),
  ),
  BACKUP_MAX_METRICS_MIB: Type.Integer({
    minimum: 1,
    default: 64,
    description:
      'MiB of metrics and registrations that wait for the origin; beyond, the oldest are dropped and counted',
  }),
  FEATURES_REFRESH_INTERVAL_SECONDS: seconds(
    15,
    'seconds between polls of an origin that the edge does not stream from',
  ),
  METRICS_INTERVAL_SECONDS: seconds(
    60,
    'seconds between reports to the origin: of metrics and registrations, and of the edge itself',
  ),
  TOKEN_REVALIDATION_INTERVAL_SECONDS: seconds(
    60,
    'seconds between validations of all known tokens at the origin: a revoked frontend token works so long, and three seconds more, while the origin can be reached',
  ),
  UPSTREAM_REQUEST_TIMEOUT: seconds(5, 'seconds that a request to the origin may take; streams may stay open'),
  UPSTREAM_ANSWER_TIMEOUT_SECONDS: seconds(
    60,
    'seconds that the whole body of an answer of the origin may take, once it has begun',
  ),
  UPSTREAM_MAX_ANSWER_MIB: Type.Integer({
    minimum: 1,
    // No text of Node is longer than 512 MiB.
    maximum: 500,
    default: 256,
    description:
      'maximum MiB of an answer of the origin, and of an event of its stream, decompressed; longer ones are left out',
  }),
  UPSTREAM_MAX_LISTS_MIB: Type.Integer({
    minimum: 1,
    default: 256,
    description:
      'maximum MiB that the ids in lists of segments take in memory, those of all tokens together, and old and new ones while one replaces the other; a list that does not fit matches nobody',
  }),
  UPSTREAM_CERTIFICATE_FILE: Type.Optional(
    Type.String({ minLength: 1, description: 'PEM file with the certificates that the origin is verified with, too' }),
  ),
  OFFLINE: Type.Boolean({
    default: false,
    description: 'whether the edge has no origin and serves BOOTSTRAP_FILE to the tokens of its settings',
  }),
  BOOTSTRAP_FILE: Type.Optional(
    Type.String({ minLength: 1, description: 'a response of /api/client/features, with OFFLINE' }),
  ),
  RELOAD_INTERVAL: Type.Integer({
    minimum: 0,
    maximum: 86_400,
    default: 0,
    description: 'seconds between readings of BOOTSTRAP_FILE, with OFFLINE; 0 reads it at the start alone',
  }),
  CLIENT_TOKENS: Type.Optional(
    Type.String({ secret: true, description: 'client tokens that are accepted with OFFLINE' }),
  ),
  FRONTEND_TOKENS: Type.Optional(
    Type.String({
      secret: true,
      description:
        'frontend tokens that are accepted with OFFLINE; one that is in CLIENT_TOKENS, too, is no client token',
    }),
  ),
  APP_NAME: Type.String({
    minLength: 1,
    maxLength: 255,
    default: 'bunting-edge',
    description: 'name in reports to the origin',
  }),
  REGION: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'where the edge runs, in reports to the origin' }),
  ),
  AWS_REGION: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'the same, where REGION is not set' }),
  ),
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 3063, description: 'port of HTTP; 0 takes a free one' }),
  INTERFACE: Type.String({ minLength: 1, default: '0.0.0.0', description: 'address that the edge listens on' }),
  BASE_PATH: Type.String({
    pattern: '^(/[\\w.~/-]*)?$',
    default: '',
    description: 'path below which the edge also serves, such as `/edge`',
  }),
  TLS_ENABLE: Type.Boolean({
    default: false,
    description: 'whether the edge speaks TLS, on TLS_SERVER_PORT instead of PORT',
  }),
  TLS_SERVER_KEY: Type.Optional(
    Type.String({
      secretFile: true,
      description: 'PEM file with the key of the certificate; required with TLS_ENABLE',
    }),
  ),
  TLS_SERVER_CERT: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'PEM file with the certificate and those that it depends on; required with TLS_ENABLE',
    }),
  ),
  TLS_SERVER_PORT: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 3043,
    description: 'port of TLS; 0 takes a free one',
  }),
  CORS_ORIGIN: Type.String({
    origins: true,
    default: '*',
    description: 'origins whose pages may evaluate features, comma-separated; `*` for every origin',
  }),
  TRUST_PROXY: Type.Boolean({
    default: false,
    description:
      'whether the X-Forwarded-For of PROXY_TRUSTED_SERVERS is trusted; of every client where that is not set',
  }),
  PROXY_TRUSTED_SERVERS: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F.:/, ]+$',
      description: 'addresses and networks of the proxies that TRUST_PROXY trusts, comma-separated',
    }),
  ),
  DISABLE_ALL_ENDPOINT: Type.Boolean({
    default: false,
    description: 'whether `/api/frontend/all` and `/api/proxy/all`, which also list the features that are off, are 404',
  }),
  TOKEN_HEADER: Type.String({
    pattern: "^[\\w!#$%&'*+.^`|~-]{1,100}$",
    default: 'Authorization',
    description: 'header that clients and the edge send tokens in',
  }),
  ...httpLimits,
  ...deliverySettings,
});
export type EdgeConfig = Static<typeof EdgeConfig>;

/** Every address, in halves, as no network is as large as all: clients of a proxy that is not named are told apart as it says. */
const anyAddress = '0.0.0.0/1,128.0.0.0/1,::/1,8000::/1';

/** The longest that an edge waits for the first state of a token, or for the validation of one, is far below these. */
const requestTimeoutMs = 10_000;

/** The settings of the HTTP server under the names that it has in gateways. */
export function serverSettingsOf(config: EdgeConfig) {
  const { TRUST_PROXY, PROXY_TRUSTED_SERVERS: named = '' } = config;
  return {
    ...config,
    ...(TRUST_PROXY ? { GATEWAY_TRUSTED_PROXIES: named.trim() === '' ? anyAddress : named } : {}),
    GATEWAY_CORS_ORIGINS: '',
    GATEWAY_FRONTEND_CORS_ORIGINS: config.CORS_ORIGIN,
    GATEWAY_CALL_TIMEOUT_MS: requestTimeoutMs,
    GATEWAY_LARGE_CALL_TIMEOUT_MS: requestTimeoutMs,
  };
}
export type ServerSettings = ReturnType<typeof serverSettingsOf>;

/** The tokens of a setting, each once. */
export function tokensIn(...lists: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(lists.flatMap((list = '') => splitCommaSeparated(list)))];
}

/** Whether only tokens within those of TOKENS are accepted. */
export function isStrict({ STRICT, DYNAMIC, OFFLINE }: EdgeConfig): boolean {
  return !OFFLINE && (STRICT ?? !DYNAMIC);
}

/** @throws Error that names the settings that contradict each other or are missing */
export function requireConsistent(config: EdgeConfig): void {
  const { OFFLINE, UPSTREAM_URL, BOOTSTRAP_FILE, TOKENS, TLS_ENABLE, TLS_SERVER_KEY, TLS_SERVER_CERT } = config;
  if (config.STRICT === true && config.DYNAMIC) throw new Error('STRICT and DYNAMIC are opposites: set one of them.');
  if (OFFLINE && BOOTSTRAP_FILE === undefined) throw new Error('OFFLINE requires BOOTSTRAP_FILE.');
  // Nothing tells them apart there: as a client token, one that pages publish would show all rules.
  if (OFFLINE && tokensIn(TOKENS).length > 0)
    throw new Error('OFFLINE cannot tell of which type TOKENS are: name them in CLIENT_TOKENS or FRONTEND_TOKENS.');
  if (!OFFLINE && UPSTREAM_URL === undefined)
    throw new Error('UPSTREAM_URL is required: the address of Bunting, Unleash or another edge. Or set OFFLINE.');
  if (isStrict(config) && tokensIn(TOKENS).length === 0)
    throw new Error('STRICT requires TOKENS. Name client tokens there, or set DYNAMIC to accept all that are valid.');
  if (TLS_ENABLE && (TLS_SERVER_KEY === undefined || TLS_SERVER_CERT === undefined))
    throw new Error('TLS_ENABLE requires TLS_SERVER_KEY and TLS_SERVER_CERT.');
}
