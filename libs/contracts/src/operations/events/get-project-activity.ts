import { Type } from 'typebox';
import { Timestamp } from '../../model/schema.ts';
import { defineOperation } from '../../operation.ts';

const eventCount = (description: string) => Type.Integer({ minimum: 0, description });

/** Counts the events of projects, for the service that shows projects. A project without events is left out. Days are days of UTC. */
export const GetProjectActivity = defineOperation({
  subject: 'call.audit.get-project-activity',
  operationId: 'getProjectActivity',
  summary: 'Count the events of projects',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    project: Type.Optional(Type.String({ description: 'only this project' })),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 366, description: 'the number of days, until today, to count by day' }),
    ),
  }),
  reply: Type.Object({
    projects: Type.Array(
      Type.Object({
        id: Type.String(),
        lastEventAt: Timestamp('when its newest event happened'),
        currentWindow: eventCount('in the last 30 days, today included'),
        pastWindow: eventCount('in the 30 days before those'),
        days: Type.Array(Type.Object({ date: Type.String(), count: eventCount('on that day') }), {
          description: 'days with events, oldest first; empty if `days` is absent',
        }),
      }),
    ),
  }),
});
