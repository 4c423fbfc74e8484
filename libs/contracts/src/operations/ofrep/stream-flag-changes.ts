import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Streams a signal whenever features should be evaluated again, by the OpenFeature Remote Evaluation Protocol. */
export const StreamFlagChanges = defineOperation({
  subject: 'call.gateway.stream-flag-changes',
  operationId: 'streamFlagChanges',
  summary: 'Stream the signals to evaluate the features again (OFREP)',
  description:
    'Server-sent events of the type `refetchEvaluation`: one for each change that the token of the ticket can notice. `EventSource` cannot send a token, so the address carries a ticket, which the evaluation of all features hands out.',
  tag: 'OFREP',
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
