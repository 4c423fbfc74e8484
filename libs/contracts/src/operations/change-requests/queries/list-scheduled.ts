import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { ProjectPath } from '../../paths.ts';

const names = (description: string) => Type.Optional(Type.Array(Type.String(), { maxItems: 300, description }));

/** Lists the scheduled change requests that touch any of some objects, as a warning before those are edited directly. */
export const ListScheduled = defineOperation({
  subject: 'call.change-requests.list-scheduled',
  operationId: 'getScheduledChangeRequests',
  summary: 'List the scheduled change requests that touch given objects',
  description:
    'Returns the scheduled change requests that touch any of the given features, strategies or variants; none if none is given.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/scheduled' },
  permission: 'authenticated',
  params: ProjectPath,
  query: Type.Object({
    feature: names('names of features: whatever is planned for them'),
    strategyId: names('ids of strategies that are to be changed, moved or deleted'),
    variantForFlag: names('names of features whose variants are to be replaced'),
  }),
  reply: Type.Array(
    Type.Object({
      id: Type.Number({ description: 'the id of the change request' }),
      environment: Type.String({ description: 'the environment where it will be applied' }),
      title: Type.Optional(Type.String({ description: 'the title, if it has one' })),
    }),
    { title: 'scheduledChangeRequestsSchema', description: 'Scheduled change requests, by id.' },
  ),
  errors: ['ValidationError', 'NotFoundError'],
});
