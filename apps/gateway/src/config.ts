import { type Static, Type } from 'typebox';

/** Everything that the gateway reads from its environment. */
export const GatewayConfig = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 4242, description: 'port of the API; 0 takes a free one' }),
  GATEWAY_HOST: Type.String({ minLength: 1, default: '0.0.0.0', description: 'address that the API listens on' }),
  GATEWAY_DATABASE_URL: Type.String({ format: 'uri', description: 'PostgreSQL database of the gateway' }),
  BUNTING_ADMIN_TOKEN: Type.Optional(
    Type.String({
      pattern: '^[!-~]{16,256}$',
      description:
        'an admin token that always works, 16 to 256 visible characters; without it the first start makes one up',
    }),
  ),
  GATEWAY_TOKEN_KEY: Type.Optional(
    Type.String({
      minLength: 32,
      description: 'the key that tokens are hashed with; without it one is made up and kept in the database',
    }),
  ),
  GATEWAY_TOKEN_CACHE_MS: Type.Integer({
    minimum: 0,
    maximum: 5_000,
    default: 2_000,
    description: 'milliseconds for which a token is not looked up again, and so for which a revoked one may still work',
  }),
  GATEWAY_BODY_LIMIT_BYTES: Type.Integer({
    minimum: 1_024,
    default: 1_048_576,
    description: 'bytes that the body of a request may have',
  }),
  GATEWAY_LARGE_BODY_LIMIT_BYTES: Type.Integer({
    minimum: 1_024,
    default: 10_485_760,
    description: 'bytes that the body of an import may have',
  }),
  GATEWAY_REQUEST_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 10_000,
    description: 'milliseconds that a service has for its answer',
  }),
  GATEWAY_LARGE_REQUEST_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 60_000,
    description: 'milliseconds that a service has for an import',
  }),
  GATEWAY_RELAY_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 200,
    description: 'milliseconds after which the relay looks for events that nobody announced',
  }),
  GATEWAY_OUTBOX_RETENTION_HOURS: Type.Integer({
    minimum: 1,
    default: 24,
    description: 'hours for which events that every consumer has are kept in the outbox',
  }),
});
export type GatewayConfig = Static<typeof GatewayConfig>;
