import { type Static, Type } from 'typebox';
import { DeadLetter } from '../../dead-letters.ts';
import { defineOperation } from '../../operation.ts';

/** The dead letters of every service. */
export const DeadLetters = Type.Object(
  {
    deadLetters: Type.Array(
      Type.Object({
        service: Type.String({ description: 'the service that could not apply it' }),
        ...DeadLetter.properties,
      }),
      { description: 'of each service the oldest first, at most a thousand' },
    ),
    unanswered: Type.Array(Type.String(), {
      description: 'services that did not answer in time: whether they have dead letters is not known now',
    }),
  },
  { title: 'deadLettersSchema', description: 'The dead letters of every service.' },
);
export type DeadLetters = Static<typeof DeadLetters>;

/** Lists the messages that services could not apply because of their content, and try again. */
export const ListDeadLetters = defineOperation({
  subject: 'call.audit.list-dead-letters',
  operationId: 'listDeadLetters',
  summary: 'List the messages that could not be applied',
  description:
    'A service that cannot apply an event, or a new state of a flag, a segment or a project, because of its content keeps it as a dead ' +
    'letter and tries again, with growing pauses and whenever it starts, until that succeeds. Events of the audit service that are ' +
    'listed here are not in the event log yet.',
  tag: 'Events',
  http: { method: 'GET', url: '/api/admin/events/dead-letters' },
  permission: 'ADMIN',
  reply: DeadLetters,
});
