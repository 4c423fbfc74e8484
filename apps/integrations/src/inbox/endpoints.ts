import { type Endpoint, implement, reads, systemContext, writes } from '@bunting/bus';
import {
  type Caller,
  CountUnreadNotifications,
  EndMails,
  GetNotificationPreferences,
  GetPermissionsOfUsers,
  ListNotifications,
  MarkAllNotificationsRead,
  MarkNotification,
  refusal,
  SetNotificationPreference,
} from '@bunting/contracts';
import { call } from '../calls.ts';
import type { IntegrationsContext } from '../endpoints.ts';
import { invalidLink } from '../mail/unsubscribe-links.ts';
import type { InboxOf } from './inbox-store.ts';

const callTimeoutMs = 5_000;

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
export function inboxEndpoints({
  bus,
  inbox,
  transaction,
  mailHour,
  unsubscribeLinks,
}: IntegrationsContext): readonly Endpoint[] {
  const isSetUp = unsubscribeLinks !== undefined;
  const addressOf = async (userId: number): Promise<string | null> => {
    if (!isSetUp) return null;
    const { users } = await call(bus, GetPermissionsOfUsers, { body: { ids: [userId] } }, systemContext(callTimeoutMs));
    return users[0]?.user.email ?? null;
  };
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
    implement(GetNotificationPreferences, async ({ caller }) => {
      const { userId } = inboxOf(caller);
      const [kinds, address] = await Promise.all([inbox.preferences(userId), addressOf(userId)]);
      return { kinds, mail: { isSetUp, address, dailyHour: mailHour } };
    }),
    writes(SetNotificationPreference, transaction, async (tx, { params, body, caller }) => {
      const { userId } = inboxOf(caller);
      await tx.inbox.prefer(userId, params.kind, body);
      return { kinds: await tx.inbox.preferences(userId) };
    }),
    writes(EndMails, transaction, async (tx, { query: { token } }) => {
      if (unsubscribeLinks === undefined) throw invalidLink();
      const { userId, unsubscription } = unsubscribeLinks.read(token);
      const kinds = await tx.inbox.preferences(userId);
      const inDailyMail = unsubscription === 'daily' ? await tx.inbox.kindsInDailyMail(userId) : new Set<string>();
      const ended = kinds.filter(({ kind, mail }) =>
        unsubscription === 'daily' ? mail === 'daily' || inDailyMail.has(kind) : kind === unsubscription,
      );
      for (const { kind } of ended) await tx.inbox.prefer(userId, kind, { mail: 'never' });
      return null;
    }),
  ];
}
