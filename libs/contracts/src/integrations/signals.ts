import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { maxId, Timestamp, UrlFriendlyName } from '../schemas.ts';

const defineOperation = operationsOf('Signals');

/** The maximum number of bytes of a signal, as JSON. */
export const maxSignalBytes = 65_536;

/** How long signals are kept with the runs that they caused, and how many of an endpoint. */
export const signalDays = 14;
export const maxSignals = 1_000;

const endpointId = Type.Integer({ minimum: 0, maximum: maxId, description: 'the id of the signal endpoint' });
const SignalEndpointPath = Type.Object({ id: endpointId });
const SignalEndpointTokensPath = Type.Object({ signalEndpointId: endpointId });
const SignalEndpointTokenPath = Type.Object({
  signalEndpointId: endpointId,
  id: Type.Integer({ minimum: 0, maximum: maxId, description: 'the id of the token' }),
});

export const SignalEndpointToken = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'the id' }),
    name: Type.String({ description: 'the name' }),
    signalEndpointId: Type.Integer({ description: 'the id of the signal endpoint' }),
    createdAt: Timestamp('when it was created'),
    createdByUserId: Type.Integer({ description: 'the id of its creator' }),
  },
  { title: 'signalEndpointTokenSchema', description: 'A token of a signal endpoint, without its secret.' },
);
export type SignalEndpointToken = Static<typeof SignalEndpointToken>;

export const SignalEndpoint = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'the id' }),
    name: Type.String({ description: 'the name, which its URL has' }),
    description: Type.String({ description: 'what it is for; empty without a description' }),
    enabled: Type.Boolean({ description: 'whether it accepts signals' }),
    createdAt: Timestamp('when it was created'),
    createdByUserId: Type.Integer({ description: 'the id of its creator' }),
    tokens: Type.Array(SignalEndpointToken, { description: 'its tokens, without their secrets' }),
  },
  { title: 'signalEndpointSchema', description: 'An address that other systems send signals to.' },
);
export type SignalEndpoint = Static<typeof SignalEndpoint>;

export const SignalEndpointBody = Type.Object(
  {
    name: UrlFriendlyName('the name, which its URL has; no other endpoint has it'),
    description: Type.Optional(Type.String({ maxLength: 2_000, description: 'what it is for' })),
    enabled: Type.Boolean({ description: 'whether it accepts signals' }),
  },
  { title: 'signalEndpointCreateUpdateSchema', description: 'The properties of a signal endpoint.' },
);
export type SignalEndpointBody = Static<typeof SignalEndpointBody>;

export const SignalEndpointTokenBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: 'the name; no other token of the endpoint has it' }),
  },
  { title: 'signalEndpointTokenCreateUpdateSchema', description: 'The name of a token.' },
);

export const Signal = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'the id; of an endpoint, a later signal has a higher one' }),
    source: Type.Enum(['signal-endpoint'], { type: 'string', description: 'the kind of its source' }),
    sourceId: Type.Integer({ description: 'the id of the signal endpoint' }),
    createdAt: Timestamp('when it was received'),
    tokenName: Type.String({ description: 'the name of the token that it was sent with' }),
    payload: Type.Unsafe<unknown>({ description: 'the JSON that was sent' }),
  },
  { title: 'signalEndpointSignalSchema', description: 'A signal that was received.' },
);

export const ListSignalEndpoints = defineOperation({
  subject: 'call.integrations.list-signal-endpoints',
  operationId: 'getSignalEndpoints',
  summary: 'List the signal endpoints',
  http: { method: 'GET', url: '/api/admin/signal-endpoints' },
  permission: 'ADMIN',
  reply: Type.Object(
    { signalEndpoints: Type.Array(SignalEndpoint, { description: 'in the order of their creation' }) },
    { title: 'signalEndpointsSchema', description: 'The signal endpoints.' },
  ),
});

/** Emits `signal-endpoint-created`. */
export const CreateSignalEndpoint = defineOperation({
  subject: 'call.integrations.create-signal-endpoint',
  summary: 'Create a signal endpoint',
  description: 'Creates a signal endpoint. It needs a token to receive signals.',
  http: {
    method: 'POST',
    url: '/api/admin/signal-endpoints',
    status: 201,
    location: (_request: unknown, { id }: { id: number }) => `signal-endpoints/${id}`,
  },
  permission: 'ADMIN',
  body: SignalEndpointBody,
  reply: SignalEndpoint,
  errors: ['ValidationError', 'NameExistsError', 'ExceedsLimitError'],
});

/** Emits `signal-endpoint-updated`. */
export const UpdateSignalEndpoint = defineOperation({
  subject: 'call.integrations.update-signal-endpoint',
  summary: 'Update a signal endpoint',
  description: 'Replaces the properties of a signal endpoint. With another name its URL is another one.',
  http: { method: 'PUT', url: '/api/admin/signal-endpoints/:id' },
  permission: 'ADMIN',
  params: SignalEndpointPath,
  body: SignalEndpointBody,
  reply: SignalEndpoint,
  errors: ['ValidationError', 'NameExistsError', 'NotFoundError'],
});

/** Emits `signal-endpoint-updated`, if it was disabled. */
export const EnableSignalEndpoint = defineOperation({
  subject: 'call.integrations.enable-signal-endpoint',
  operationId: 'toggleSignalEndpointOn',
  summary: 'Enable a signal endpoint',
  http: { method: 'POST', url: '/api/admin/signal-endpoints/:id/on', anyContentType: true },
  permission: 'ADMIN',
  params: SignalEndpointPath,
});

/** Emits `signal-endpoint-updated`, if it was enabled. */
export const DisableSignalEndpoint = defineOperation({
  subject: 'call.integrations.disable-signal-endpoint',
  operationId: 'toggleSignalEndpointOff',
  summary: 'Disable a signal endpoint',
  description:
    'Disables a signal endpoint: it refuses signals from then on. Those that it has received still cause runs.',
  http: { method: 'POST', url: '/api/admin/signal-endpoints/:id/off', anyContentType: true },
  permission: 'ADMIN',
  params: SignalEndpointPath,
});

/** Emits `signal-endpoint-deleted`. */
export const DeleteSignalEndpoint = defineOperation({
  subject: 'call.integrations.delete-signal-endpoint',
  summary: 'Delete a signal endpoint',
  description:
    'Deletes a signal endpoint with its tokens and signals. One that actions refer to is refused: delete or redirect them first.',
  http: { method: 'DELETE', url: '/api/admin/signal-endpoints/:id', anyContentType: true },
  permission: 'ADMIN',
  params: SignalEndpointPath,
  errors: ['NotFoundError', 'OperationDeniedError'],
});

export const ListSignalEndpointTokens = defineOperation({
  subject: 'call.integrations.list-signal-endpoint-tokens',
  operationId: 'getSignalEndpointTokens',
  summary: 'List the tokens of a signal endpoint',
  http: { method: 'GET', url: '/api/admin/signal-endpoints/:signalEndpointId/tokens' },
  permission: 'ADMIN',
  params: SignalEndpointTokensPath,
  reply: Type.Object(
    { signalEndpointTokens: Type.Array(SignalEndpointToken, { description: 'in the order of their creation' }) },
    { title: 'signalEndpointTokensSchema', description: 'The tokens of a signal endpoint.' },
  ),
});

/** Emits `signal-endpoint-token-created`, without the secret. */
export const CreateSignalEndpointToken = defineOperation({
  subject: 'call.integrations.create-signal-endpoint-token',
  summary: 'Create a token of a signal endpoint',
  description:
    'Creates a token with which signals can be sent to this endpoint. The secret is shown only in this response.',
  http: { method: 'POST', url: '/api/admin/signal-endpoints/:signalEndpointId/tokens', status: 201 },
  permission: 'ADMIN',
  params: SignalEndpointTokensPath,
  body: SignalEndpointTokenBody,
  reply: Type.Object(
    { ...SignalEndpointToken.properties, token: Type.String({ description: 'the secret' }) },
    { title: 'signalEndpointTokenWithSecretSchema', description: 'A new token with its secret.' },
  ),
  errors: ['ValidationError', 'NameExistsError', 'NotFoundError', 'ExceedsLimitError'],
});

/** Emits `signal-endpoint-token-updated`. */
export const UpdateSignalEndpointToken = defineOperation({
  subject: 'call.integrations.update-signal-endpoint-token',
  summary: 'Rename a token of a signal endpoint',
  http: { method: 'PUT', url: '/api/admin/signal-endpoints/:signalEndpointId/tokens/:id' },
  permission: 'ADMIN',
  params: SignalEndpointTokenPath,
  body: SignalEndpointTokenBody,
  reply: SignalEndpointToken,
  errors: ['ValidationError', 'NameExistsError', 'NotFoundError'],
});

/** Emits `signal-endpoint-token-deleted`. */
export const DeleteSignalEndpointToken = defineOperation({
  subject: 'call.integrations.delete-signal-endpoint-token',
  summary: 'Delete a token of a signal endpoint',
  description: 'Deletes a token. Every replica refuses it from then on.',
  http: {
    method: 'DELETE',
    url: '/api/admin/signal-endpoints/:signalEndpointId/tokens/:id',
    anyContentType: true,
  },
  permission: 'ADMIN',
  params: SignalEndpointTokenPath,
});

/** The parameters of a page of a history. */
export const HistoryQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'how many to return; default: 50' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: maxId, default: 0, description: 'how many to skip; default: 0' }),
  ),
});

export const ListSignals = defineOperation({
  subject: 'call.integrations.list-signals',
  operationId: 'getSignalEndpointSignals',
  summary: 'List the signals that an endpoint has received',
  description: `Lists the signals that an endpoint has received, newest first. They are kept for ${signalDays} days, at most ${maxSignals} of an endpoint.`,
  http: { method: 'GET', url: '/api/admin/signal-endpoints/:signalEndpointId/signals' },
  permission: 'ADMIN',
  params: SignalEndpointTokensPath,
  query: HistoryQuery,
  reply: Type.Object(
    { signalEndpointSignals: Type.Array(Signal, { description: 'newest first' }) },
    { title: 'signalEndpointSignalsSchema', description: 'Signals that an endpoint has received.' },
  ),
});

/** Answers once the signal is stored. Actions run afterwards, at least once, in the order of the signals of the endpoint. Emits no event. */
export const ReceiveSignal = defineOperation({
  subject: 'call.integrations.receive-signal',
  operationId: 'callSignalEndpoint',
  summary: 'Send a signal',
  description:
    'Stores a signal, any JSON, for the actions that listen to this endpoint. The token of the endpoint is sent as `Authorization: Bearer <token>`.',
  http: {
    method: 'POST',
    url: '/api/signal-endpoint/:name',
    status: 202,
    assumesJson: true,
    headers: { authorization: 'authorization' },
  },
  permission: 'public',
  params: Type.Object({ name: Type.String({ minLength: 1, description: 'the name of the signal endpoint' }) }),
  query: Type.Object({
    authorization: Type.Optional(
      Type.String({ maxLength: 1_000, description: '`Bearer` and the token of the signal endpoint' }),
    ),
  }),
  body: Type.Unsafe<unknown>({ type: ['object', 'array'], description: 'what has happened: any JSON object or list' }),
  errors: ['ValidationError', 'AuthenticationRequired', 'OperationDeniedError'],
});
