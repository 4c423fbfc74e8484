import { Type } from 'typebox';
import { ProjectOwner } from '../../model/projects/project-owner.ts';
import { defineOperation } from '../../operation.ts';

/** Counts the members of projects and lists their owners, for the service that shows projects. Projects without members are left out. */
export const CountProjectMembers = defineOperation({
  subject: 'call.gateway.count-project-members',
  operationId: 'countProjectMembers',
  summary: 'Count the members of projects and list their owners',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ project: Type.Optional(Type.String({ description: 'only this project' })) }),
  reply: Type.Object({
    projects: Type.Array(
      Type.Object({
        id: Type.String(),
        members: Type.Integer(),
        added: Type.Integer({
          description: 'the number of members who got their first role in it in the last 30 days',
        }),
        owners: Type.Array(ProjectOwner),
      }),
    ),
  }),
});
