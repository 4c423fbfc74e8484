import { Type } from 'typebox';
import { ProjectOwner } from '../../model/project-owner.ts';
import { defineOperation } from '../../operation.ts';

/** Says how many members projects have and who owns them, for the service that shows projects. What has no members is left out. */
export const CountMembers = defineOperation({
  subject: 'call.gateway.count-members',
  operationId: 'membersOfProjects',
  summary: 'Says how many members projects have and who owns them',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ project: Type.Optional(Type.String({ description: 'this one alone' })) }),
  reply: Type.Object({
    projects: Type.Array(
      Type.Object({
        id: Type.String(),
        members: Type.Integer(),
        added: Type.Integer({ description: 'how many of the members got their first role in it in the last 30 days' }),
        owners: Type.Array(ProjectOwner),
      }),
    ),
  }),
});
