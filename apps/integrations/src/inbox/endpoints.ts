import { type Endpoint, implement, reads, writes } from '@bunting/bus';
import {
  type Caller,
  CountUnreadNotifications,
  GetNotificationPreferences,
  ListNotifications,
  MarkAllNotificationsRead,
  MarkNotification,
  refusal,
  SetNotificationPreference,
} from '@bunting/contracts';
import type { IntegrationsContext } from '../endpoints.ts';
import type { InboxOf } from './inbox-store.ts';

/** @throws Refusal `ForbiddenError` for a service account, and for a token without a user */
function inboxOf({ id, isService, hiddenProjects = [] }: Caller): InboxOf {
  if (id <= 0 || isService === true)
    throw refusal(
      'ForbiddenError',
      'Only people have an inbox: service accounts, and API tokens without a user, are told nothing.',
    );
  return { userId: id, hiddenProjects };
}

/** The inbox of the caller, and of nobody else. */
export function inboxEndpoints({ inbox, transaction }: IntegrationsContext): readonly Endpoint[] {
  return [
    reads(ListNotifications, ({ query: { unread = false, kind = null, before = null, limit = 25 }, caller }) =>
      inbox.page(inboxOf(caller), { unread, kind, before, limit }),
    ),
    implement(CountUnreadNotifications, ({ caller }) => inbox.countUnread(inboxOf(caller))),
    writes(MarkNotification, transaction, async (tx, { params, body, caller }) => {
      await tx.inbox.mark(inboxOf(caller), params.id, body.isRead);
      return null;
    }),
    writes(MarkAllNotificationsRead, transaction, async (tx, { body, caller }) => {
      await tx.inbox.markAllRead(inboxOf(caller), body.upTo, body.kind ?? null);
      return null;
    }),
    implement(GetNotificationPreferences, async ({ caller }) => ({
      kinds: await inbox.preferences(inboxOf(caller).userId),
    })),
    writes(SetNotificationPreference, transaction, async (tx, { params, body, caller }) => {
      const { userId } = inboxOf(caller);
      await tx.inbox.prefer(userId, params.kind, body);
      return { kinds: await tx.inbox.preferences(userId) };
    }),
  ];
}
