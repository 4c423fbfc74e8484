import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { CallerAddressQuery } from './frontend-features.ts';

const defineOperation = operationsOf('OFREP');

// The OpenFeature Remote Evaluation Protocol, version 0.3.0.

export const OfrepEvaluationBody = Type.Object(
  {
    context: Type.Optional(
      Type.Unsafe<Readonly<Record<string, unknown>> | null>({
        type: ['object', 'null'],
        properties: {
          targetingKey: {
            type: ['string', 'number', 'null'],
            description: 'the user: `userId` and `sessionId` where the context does not have them',
          },
        },
        additionalProperties: true,
        description: 'the context: texts, numbers and booleans are fields; other values are ignored',
      }),
    ),
  },
  { title: 'ofrepEvaluationRequestSchema', description: 'The context in which features are evaluated.' },
);
export type OfrepEvaluationBody = Static<typeof OfrepEvaluationBody>;

export const OfrepBulkQuery = Type.Object({
  ...CallerAddressQuery.properties,
  flagConfigEtag: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'the `etag` of the event that caused the request: a gateway that lacks the change waits for it, and responds 503 after 5 s',
    }),
  ),
  flagConfigLastModified: Type.Optional(
    Type.String({ maxLength: 100, description: 'the `lastModified` of that event; it is ignored' }),
  ),
});
export type OfrepBulkQuery = Static<typeof OfrepBulkQuery>;

const metadata = Type.Unsafe<Readonly<Record<string, string | number | boolean>>>({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
  description: '`featureEnabled`: whether the feature is on; `impressionData`: whether impression data is collected',
});
const value = Type.Unsafe<unknown>({
  description:
    'the payload of the variant by its type (`json`: any value, `number`: a number, `string` and `csv`: a text); for a feature without payloads whether it is on; absent if the default in the code applies',
});

export const OfrepEvaluation = Type.Object(
  {
    key: Type.String({ description: 'the name of the feature' }),
    value: Type.Optional(value),
    reason: Type.Enum(['STATIC', 'TARGETING_MATCH', 'SPLIT', 'DISABLED', 'UNKNOWN'], {
      type: 'string',
      description:
        '`STATIC`: the same for every user; `TARGETING_MATCH`: by constraints, segments or parents; `SPLIT`: by a rollout or weights; `DISABLED`: off for every user; `UNKNOWN`: only the application can evaluate a strategy',
    }),
    variant: Type.String({
      description: 'the name of the variant; for a user who has none `on` or `off`, as the feature is for them',
    }),
    metadata: Type.Optional(metadata),
  },
  { title: 'ofrepEvaluationSchema', description: 'The evaluation of one feature.' },
);
export type OfrepEvaluation = Static<typeof OfrepEvaluation>;

export const ofrepErrorCodes = [
  'PARSE_ERROR',
  'TARGETING_KEY_MISSING',
  'INVALID_CONTEXT',
  'FLAG_NOT_FOUND',
  'GENERAL',
] as const;
export type OfrepErrorCode = (typeof ofrepErrorCodes)[number];

export const OfrepFailure = Type.Object(
  {
    key: Type.String({ description: 'the name of the feature' }),
    errorCode: Type.Enum([...ofrepErrorCodes], {
      type: 'string',
      description: 'the reason why it cannot be evaluated',
    }),
    errorDetails: Type.String({ description: 'the same in words' }),
  },
  { title: 'ofrepFailureSchema', description: 'A feature that cannot be evaluated.' },
);
export type OfrepFailure = Static<typeof OfrepFailure>;

export const OfrepBulkEvaluation = Type.Object(
  {
    flags: Type.Array(Type.Union([OfrepEvaluation, OfrepFailure]), { description: 'by name' }),
    eventStreams: Type.Optional(
      Type.Array(
        Type.Object({
          type: Type.String({ description: '`sse`' }),
          endpoint: Type.Object({
            requestUri: Type.String({
              description: 'the address of the stream, which needs no token; valid for 15 minutes',
            }),
          }),
          inactivityDelaySec: Type.Integer({ description: 'seconds after which a hidden page closes the stream' }),
        }),
        { description: 'streams of signals to evaluate again; only for client and frontend tokens' },
      ),
    ),
  },
  { title: 'ofrepBulkEvaluationSchema', description: 'The evaluations of all features.' },
);
export type OfrepBulkEvaluation = Static<typeof OfrepBulkEvaluation>;

export const EvaluateFlag = defineOperation({
  subject: 'call.gateway.evaluate-flag',
  summary: 'Evaluate a feature for a user (OFREP)',
  description:
    'The OpenFeature Remote Evaluation Protocol, version 0.3. The token is sent as `Bearer`, or in `X-API-Key`. Errors also have the members `key`, `errorCode` and `errorDetails` of the protocol.',
  isBuntingExtension: true,
  http: {
    method: 'POST',
    url: '/ofrep/v1/evaluate/flags/:key',
    address: 'callerAddress',
    assumesJson: true,
    dropsUnusableNames: true,
  },
  readsOnly: true,
  respondsFromMemory: true,
  permission: ['FRONTEND', 'CLIENT'],
  params: Type.Object({ key: Type.String({ minLength: 1, description: 'the name of the feature' }) }),
  query: CallerAddressQuery,
  body: OfrepEvaluationBody,
  reply: OfrepEvaluation,
});

export const EvaluateFlags = defineOperation({
  subject: 'call.gateway.evaluate-flags',
  summary: 'Evaluate the features for a user (OFREP)',
  description:
    'The OpenFeature Remote Evaluation Protocol, version 0.3. 304 where the evaluations for this user are those of the ETag in `If-None-Match`. Features that are off are listed, too.',
  isBuntingExtension: true,
  http: {
    method: 'POST',
    url: '/ofrep/v1/evaluate/flags',
    address: 'callerAddress',
    assumesJson: true,
    dropsUnusableNames: true,
  },
  readsOnly: true,
  respondsFromMemory: true,
  permission: ['FRONTEND', 'CLIENT'],
  query: OfrepBulkQuery,
  body: OfrepEvaluationBody,
  reply: OfrepBulkEvaluation,
  setsEntityTag: true,
});

/** Streams a signal whenever features should be evaluated again, by the OpenFeature Remote Evaluation Protocol. */
export const StreamFlagChanges = defineOperation({
  subject: 'call.gateway.stream-flag-changes',
  summary: 'Stream the signals to evaluate the features again (OFREP)',
  description:
    'Server-sent events of the type `refetchEvaluation`: one for each change that the token of the ticket can notice. `EventSource` cannot send a token, so the address carries a ticket, which the evaluation of all features hands out.',
  isBuntingExtension: true,
  http: {
    method: 'GET',
    url: '/ofrep/v1/events',
    eventStream: true,
    headers: { lastEventId: 'Last-Event-ID' },
  },
  respondsFromMemory: true,
  permission: 'public',
  query: Type.Object({
    ticket: Type.String({ maxLength: 500, description: 'from `eventStreams` of an evaluation; valid for 15 minutes' }),
    lastEventId: Type.Optional(
      Type.String({ maxLength: 100, description: 'the id of the last event; anything but a number counts as none' }),
    ),
  }),
  reply: Type.String({ description: 'server-sent events' }),
  errors: ['ValidationError', 'AuthenticationRequired', 'RateLimitError'],
});
