import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { AnyObject, Count, Nullable, Timestamp } from '../schemas.ts';
import { AddonPath } from './addons.ts';

const defineOperation = operationsOf('Addons');

export const IntegrationEvent = Type.Object(
  {
    id: Type.String({ description: 'the id of the attempt' }),
    integrationId: Type.Number({ description: 'the id of the integration' }),
    createdAt: Timestamp('when the attempt ended'),
    state: Type.Enum(['success', 'failed', 'successWithErrors'], {
      type: 'string',
      description: '`success` if the destination has accepted the event',
    }),
    stateDetails: Type.String({ description: 'what happened, and what happens next' }),
    event: AnyObject({ description: 'the event' }),
    details: AnyObject({
      description:
        'of the attempt: `webhookId`, the same for every attempt of the event; `attempt`, its number; `status` of the response, or null; `deadLetter`, whether it was the last one',
    }),
  },
  { title: 'integrationEventSchema', description: 'An attempt to deliver an event.' },
);

export const IntegrationEvents = Type.Object(
  { integrationEvents: Type.Array(IntegrationEvent, { description: 'the attempts, newest first' }) },
  { title: 'integrationEventsSchema', description: 'Attempts to deliver events.' },
);

export const ListIntegrationEvents = defineOperation({
  subject: 'call.integrations.list-integration-events',
  operationId: 'getIntegrationEvents',
  summary: 'List the attempts to deliver events',
  description: 'Lists the attempts of an integration to deliver events, newest first.',
  http: { method: 'GET', url: '/api/admin/addons/:id/events' },
  permission: 'ADMIN',
  params: AddonPath,
  query: Type.Object({
    limit: Type.Optional(Type.String({ description: 'how many to return, 1 to 100; anything else: 50' })),
    offset: Type.Optional(Type.String({ description: 'how many to skip; default: 0' })),
  }),
  reply: IntegrationEvents,
});

export const DeliveryStatus = Type.Object(
  {
    position: Count('the id of the event up to which the event log is delivered or waits'),
    head: Count('the id of the newest event of the event log'),
    waiting: Count('failed events that are attempted again, and events of the same flags after them'),
    deadLetters: Count('events that are not attempted any more'),
    nextAttemptAt: Nullable(Timestamp('when'), { description: 'when the next failed event is attempted again' }),
    pausedUntil: Nullable(Timestamp('until when'), {
      description: 'until when nothing is sent, because the destination failed several times in a row or asked to wait',
    }),
    disabledReason: Nullable(Type.String(), {
      description: 'why Bunting has disabled the integration: the destination has responded 410',
    }),
  },
  { title: 'deliveryStatusSchema', description: 'How far the delivery to a destination is.' },
);
export type DeliveryStatus = Static<typeof DeliveryStatus>;

export const GetDeliveryStatus = defineOperation({
  subject: 'call.integrations.get-delivery-status',
  summary: 'Get the state of the delivery to a destination',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/addons/:id/delivery' },
  permission: 'ADMIN',
  params: AddonPath,
  reply: DeliveryStatus,
});

/** Sends the event of an attempt again, with the same `webhook-id`. Emits no event. */
export const RedeliverEvent = defineOperation({
  subject: 'call.integrations.redeliver-event',
  summary: 'Send an event again',
  description:
    'Sends the event of an attempt again, with the same `webhook-id`, after what waits of the same flag. It is retried like any other. Integrations that send events together refuse it.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/addons/:id/events/:eventId/redeliver', status: 202, anyContentType: true },
  permission: 'ADMIN',
  params: Type.Object({
    ...AddonPath.properties,
    eventId: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'the id of the attempt, as `GET /api/admin/addons/{id}/events` lists it',
    }),
  }),
  errors: ['NotFoundError', 'OperationDeniedError'],
});

export const ReplayBody = Type.Object(
  {
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'the id of the last event of the event log that is not delivered again',
      }),
    ),
    since: Type.Optional(Timestamp('the time from which on events are delivered again, instead of `after`')),
  },
  { title: 'replayEventsSchema', description: 'From where on events are delivered again: one of the two.' },
);

/** Moves the position of a destination in the event log back. Emits no event. */
export const ReplayEvents = defineOperation({
  subject: 'call.integrations.replay-events',
  summary: 'Deliver the events again from an id or a time on',
  description:
    'Delivers the events of the event log again that the integration selects, from an event or a time on. Each has the `webhook-id` that it had before.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/addons/:id/replay', status: 202 },
  permission: 'ADMIN',
  params: AddonPath,
  body: ReplayBody,
  reply: Type.Object(
    { after: Count('the id of the event after which events are delivered') },
    { title: 'replayedEventsSchema', description: 'From where on events are delivered again.' },
  ),
});

export const TestResult = Type.Object(
  {
    request: Type.Object({
      method: Type.String({ description: 'the method' }),
      url: Type.String({ description: 'scheme and host of the address; the rest may be a secret' }),
      headers: AnyObject({ description: 'the headers; the values of those that are secrets are masked' }),
      body: Type.String({ description: 'the body' }),
    }),
    response: Nullable(
      Type.Object({
        status: Type.Integer({ description: 'the status' }),
        body: Type.String({ description: 'the first characters of the body' }),
      }),
      { description: 'the response; null if there was none' },
    ),
    error: Nullable(Type.String(), {
      description: 'why the event was not accepted, or not by all addresses of a mail; null if it was',
    }),
  },
  { title: 'integrationTestSchema', description: 'The request of a test event, and the response.' },
);
export type TestResult = Static<typeof TestResult>;

export const TestAddon = defineOperation({
  subject: 'call.integrations.test-addon',
  summary: 'Send a test event',
  description:
    'Sends a made-up event to the destination once, now, and returns the request and the response. It is neither recorded nor retried.',
  isBuntingExtension: true,
  readsOnly: true,
  http: { method: 'POST', url: '/api/admin/addons/:id/test', anyContentType: true, takesLong: true },
  permission: 'ADMIN',
  params: AddonPath,
  reply: TestResult,
  errors: ['NotFoundError', 'OperationDeniedError'],
});
