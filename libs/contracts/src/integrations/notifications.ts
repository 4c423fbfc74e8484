import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { Count, Nullable, Timestamp } from '../schemas.ts';

const defineOperation = operationsOf('Notifications');

/** What people are told of. The order is that of the console. */
export const notificationKinds = [
  'review-requested',
  'change-request-commented',
  'change-request-approved',
  'change-request-returned',
  'change-request-rejected',
  'change-request-scheduled',
  'change-request-applied',
  'change-request-failed',
  'flag-changed',
  'flag-stale',
  'token-expiring',
] as const;
export type NotificationKind = (typeof notificationKinds)[number];

/** When a person is mailed what is told: with other things once a day, or never. */
export const mailModes = ['at-once', 'daily', 'never'] as const;
export type MailMode = (typeof mailModes)[number];

/** When people are mailed who have chosen nothing: at once what waits for them, or harms soon. */
export const mailByDefault: Readonly<Record<NotificationKind, MailMode>> = {
  'review-requested': 'at-once',
  'change-request-commented': 'daily',
  'change-request-approved': 'daily',
  'change-request-returned': 'daily',
  'change-request-rejected': 'daily',
  'change-request-scheduled': 'never',
  'change-request-applied': 'never',
  'change-request-failed': 'at-once',
  'flag-changed': 'never',
  'flag-stale': 'never',
  'token-expiring': 'at-once',
};

/** The days for which notifications are kept, and how many of a person. */
export const notificationDays = 90;
export const maxNotifications = 500;

const kind = Type.Enum([...notificationKinds], { type: 'string', description: 'what it is about' });

export const Notification = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'the id; a later notification has a higher one' }),
    kind,
    createdAt: Timestamp('when it happened'),
    isRead: Type.Boolean({ description: 'whether its reader has marked it as read' }),
    createdBy: Nullable(Type.String(), { description: 'who caused it; null where time did' }),
    createdByUserId: Nullable(Type.Integer(), {
      description:
        'the id of the user who caused it; null for a token, for time, and for what is older than this member',
    }),
    title: Type.String({ description: 'the title of the change request, the name of the flag or of the token' }),
    summary: Type.String({ description: 'what happened, in Markdown, as the event log says it' }),
    comment: Nullable(Type.String(), { description: 'the comment that came with it, shortened to 500 characters' }),
    project: Nullable(Type.String(), { description: 'the project that it is about' }),
    environment: Nullable(Type.String(), { description: 'the environment that it is about' }),
    featureName: Nullable(Type.String(), { description: 'the flag that it is about' }),
    changeRequestId: Nullable(Type.Integer(), { description: 'the change request that it is about' }),
    path: Type.String({ description: 'the page of the console where its subject is' }),
  },
  { title: 'notificationSchema', description: 'Something that a person is told.' },
);
export type Notification = Static<typeof Notification>;

export const NotificationPage = Type.Object(
  {
    notifications: Type.Array(Notification, { description: 'newest first' }),
    total: Count('how many match, on all pages'),
    unread: Count('how many are unread, of every kind'),
  },
  { title: 'notificationsSchema', description: 'A page of the inbox of the caller.' },
);

/** Lists those of the caller. Those of projects that the caller may not see any more are left out. */
export const ListNotifications = defineOperation({
  subject: 'call.integrations.list-notifications',
  operationId: 'getInbox',
  summary: 'List the notifications of the caller',
  description: 'Lists what the caller was told, newest first, page by page.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/inbox' },
  permission: 'authenticated',
  query: Type.Object({
    unread: Type.Optional(Type.Boolean({ description: 'true: only those that are not read' })),
    kind: Type.Optional(Type.Enum([...notificationKinds], { type: 'string', description: 'only those of this kind' })),
    before: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'only those with smaller ids: the id of the last one of the page before',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'the maximum number on a page' }),
    ),
  }),
  reply: NotificationPage,
  errors: ['ForbiddenError', 'ValidationError'],
});

export const MarkNotification = defineOperation({
  subject: 'call.integrations.mark-notification',
  summary: 'Mark a notification as read or unread',
  isBuntingExtension: true,
  http: { method: 'PUT', url: '/api/admin/inbox/:id', status: 204 },
  permission: 'authenticated',
  params: Type.Object({
    id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'the id of the notification' }),
  }),
  body: Type.Object(
    { isRead: Type.Boolean({ description: 'false marks it as unread' }) },
    { title: 'markNotificationSchema', description: 'Whether it is read.' },
  ),
  errors: ['ForbiddenError', 'ValidationError', 'NotFoundError'],
});

/** Marks those that the caller sees, of one kind or of all. */
export const MarkAllNotificationsRead = defineOperation({
  subject: 'call.integrations.mark-all-notifications-read',
  summary: 'Mark all notifications of the caller as read',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/inbox/read', status: 204 },
  permission: 'authenticated',
  body: Type.Object(
    {
      upTo: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'the id of the newest one that the caller has seen: later ones stay unread',
      }),
      kind: Type.Optional(
        Type.Enum([...notificationKinds], {
          type: 'string',
          description: 'only those of this kind; without it, of all',
        }),
      ),
    },
    { title: 'markAllNotificationsReadSchema', description: 'Which notifications are read.' },
  ),
  errors: ['ForbiddenError', 'ValidationError'],
});

const preference = {
  inbox: Type.Boolean({ description: 'whether it comes into the inbox' }),
  mail: Type.Enum([...mailModes], {
    type: 'string',
    description: 'when it is mailed: at once, in one mail a day, or never',
  }),
};

const preferences = {
  kinds: Type.Array(Type.Object({ kind, ...preference }), { description: 'each kind, in the order of the console' }),
};

export const NotificationPreferences = Type.Object(preferences, {
  title: 'notificationPreferencesSchema',
  description: 'What the caller wants to be told, and how.',
});
export type NotificationPreferences = Static<typeof NotificationPreferences>;

export const GetNotificationPreferences = defineOperation({
  subject: 'call.integrations.get-notification-preferences',
  summary: 'Get what the caller is told, and how',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/inbox/preferences' },
  permission: 'authenticated',
  reply: Type.Object(
    {
      ...preferences,
      mail: Type.Object(
        {
          isSetUp: Type.Boolean({ description: 'whether the server sends mail' }),
          address: Nullable(Type.String(), { description: 'the address of the account, if it has one' }),
          dailyHour: Type.Integer({ minimum: 0, maximum: 23, description: 'the hour of the daily mail, in UTC' }),
        },
        { description: 'where mail goes' },
      ),
    },
    { title: 'ownNotificationPreferencesSchema', description: 'What the caller wants to be told, and how.' },
  ),
  errors: ['ForbiddenError'],
});

export const SetNotificationPreference = defineOperation({
  subject: 'call.integrations.set-notification-preference',
  summary: 'Set how the caller is told of a kind of events',
  description: 'Holds for what happens from then on. With `never`, what waits to be mailed is not mailed any more.',
  isBuntingExtension: true,
  http: { method: 'PUT', url: '/api/admin/inbox/preferences/:kind' },
  permission: 'authenticated',
  params: Type.Object({ kind }),
  body: Type.Object(
    { inbox: Type.Optional(preference.inbox), mail: Type.Optional(preference.mail) },
    {
      title: 'setNotificationPreferenceSchema',
      description: 'How the caller is told of a kind of events; what is left out stays.',
    },
  ),
  reply: NotificationPreferences,
  errors: ['ForbiddenError', 'ValidationError'],
});

/** What a link in a mail ends: mail of a kind, or the daily one. */
export type Unsubscription = NotificationKind | 'daily';

/**
 * Ends the mails that a link in one of them is for, and nothing else. Mail programs send it on a press of their own button (RFC 8058): without a
 * session, and with a body that is not read.
 */
export const EndMails = defineOperation({
  subject: 'call.integrations.end-mails',
  summary: 'Receive no more mails of a kind',
  description: 'Ends the mails that the signed link in a mail is for. Works any number of times, without a session.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/unsubscribe', status: 204, anyContentType: true },
  permission: 'public',
  idempotent: true,
  query: Type.Object({ token: Type.String({ maxLength: 200, description: 'the token of the link' }) }),
  errors: ['ValidationError', 'InvalidTokenError'],
});
