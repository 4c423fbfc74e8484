import { type Static, Type } from 'typebox';
import { DeadLetter } from '../../outbox/dead-letters.ts';
import { defineOperation } from '../../operation.ts';

/** The dead letters of every service. */
export const DeadLetters = Type.Object(
  {
    deadLetters: Type.Array(
      Type.Object({
        service: Type.String({ description: 'the service that could not apply it' }),
        ...DeadLetter.properties,
      }),
      { description: 'the oldest first for each service, at most 1,000' },
    ),
    unanswered: Type.Array(Type.String(), {
      description: 'services that did not respond in time; their dead letters are missing',
    }),
  },
  { title: 'deadLettersSchema', description: 'The dead letters of every service.' },
);
export type DeadLetters = Static<typeof DeadLetters>;

/** Lists the messages that services could not apply because of their content and retry. */
export const CollectDeadLetters = defineOperation({
  subject: 'call.audit.collect-dead-letters',
  operationId: 'collectDeadLetters',
  summary: 'List the dead letters',
  description:
    'A service that cannot apply an event, or a new state of a flag, a segment or a project, because of its content keeps it as a dead ' +
    'letter and tries again, with growing pauses and whenever it starts, until that succeeds. Events of the audit service that are ' +
    'listed here are not in the event log yet.',
  tag: 'Events',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/events/dead-letters' },
  permission: 'ADMIN',
  reply: DeadLetters,
});
