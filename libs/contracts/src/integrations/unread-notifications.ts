import { Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { Count } from '../schemas.ts';

// Apart from the other operations of the inbox: every page of the console loads this one, and no more of them.
export const CountUnreadNotifications = defineOperation({
  subject: 'call.integrations.count-unread-notifications',
  operationId: 'getUnreadCount',
  summary: 'Count the unread notifications of the caller',
  tag: 'Notifications',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/inbox/unread' },
  permission: 'authenticated',
  reply: Type.Object(
    { unread: Count('how many are unread') },
    { title: 'unreadNotificationsSchema', description: 'The number of unread notifications.' },
  ),
  errors: ['ForbiddenError'],
});
