import { Group, GroupBody } from '../../model/access/group.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a group. Emits `group-created`. */
export const CreateGroup = defineOperation({
  subject: 'call.gateway.create-group',
  operationId: 'createGroup',
  summary: 'Create a group',
  description: 'Adds a group with its members.',
  tag: 'Groups',
  http: {
    method: 'POST',
    url: '/api/admin/groups',
    status: 201,
    location: (_request, created: Group) => `groups/${created.id}`,
  },
  permission: 'ADMIN',
  body: GroupBody,
  reply: Group,
  errors: ['ValidationError', 'NameExistsError'],
});
