import { type Static, Type } from 'typebox';
import { maxCommentLength } from '../change-requests/change-request.ts';
import { operationsOf } from '../operation.ts';
import { AccountPath, AccountTokenPath } from '../paths.ts';
import { maxId, Nullable, Timestamp } from '../schemas.ts';

const defineOperation = operationsOf('Users');

/** How long the link works by which a person links a Slack account, in minutes. */
export const slackLinkMinutes = 10;

const id = (what: string) =>
  Type.String({ minLength: 1, maxLength: 100, description: `the id of the ${what} at Slack` });
const name = (what: string) => Type.String({ maxLength: 200, description: `the name of the ${what} at Slack` });

/** A person at Slack: user ids are unique within a workspace. */
const slackUser = { teamId: id('workspace'), slackUserId: id('user') };
const namedSlackUser = { ...slackUser, teamName: name('workspace'), slackUserName: name('user') };

export const SlackAccount = Type.Object(
  {
    id: Type.Integer({ minimum: 1, maximum: maxId, description: 'the id' }),
    ...namedSlackUser,
    createdAt: Timestamp('when it was linked'),
  },
  { title: 'slackAccountSchema', description: 'A Slack account whose buttons act as the user.' },
);
export type SlackAccount = Static<typeof SlackAccount>;

const SlackAccounts = Type.Object(
  { slackAccounts: Type.Array(SlackAccount, { description: 'in the order in which they were linked' }) },
  { title: 'slackAccountsSchema', description: 'The Slack accounts that are linked to a user.' },
);

const SlackLinkBody = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: 200, description: 'the token of the link that Slack has shown' }) },
  { title: 'slackAccountLinkSchema', description: 'The link by which a Slack account is linked.' },
);

export const CheckSlackLink = defineOperation({
  subject: 'call.gateway.check-slack-link',
  operationId: 'checkSlackAccountLink',
  summary: 'Look up which Slack account a link is for',
  description: 'Returns the Slack account that a link would link to the caller, without linking it.',
  isBuntingExtension: true,
  readsOnly: true,
  http: { method: 'POST', url: '/api/admin/user/slack-accounts/check' },
  permission: 'authenticated',
  body: SlackLinkBody,
  reply: Type.Object(namedSlackUser, {
    title: 'slackAccountToLinkSchema',
    description: 'The Slack account that a link is for.',
  }),
  errors: ['ValidationError', 'InvalidTokenError'],
});

/** Emits `slack-account-linked`. */
export const LinkSlackAccount = defineOperation({
  subject: 'call.gateway.link-slack-account',
  summary: 'Link a Slack account to the caller',
  description:
    'Lets the buttons that a Slack account presses in messages about change requests act as the caller, whose e-mail address must be that of the Slack account. Needs a session: API keys cannot link.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/user/slack-accounts', status: 201 },
  permission: 'authenticated',
  body: SlackLinkBody,
  reply: SlackAccount,
  errors: ['ValidationError', 'ForbiddenError', 'InvalidTokenError', 'ConflictError'],
});

export const ListOwnSlackAccounts = defineOperation({
  subject: 'call.gateway.list-own-slack-accounts',
  operationId: 'getSlackAccounts',
  summary: 'List the own Slack accounts',
  description: 'Returns the Slack accounts that act as the caller.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/user/slack-accounts' },
  permission: 'authenticated',
  reply: SlackAccounts,
});

/** Emits `slack-account-unlinked`. */
export const UnlinkOwnSlackAccount = defineOperation({
  subject: 'call.gateway.unlink-own-slack-account',
  operationId: 'unlinkSlackAccount',
  summary: 'Unlink one of the own Slack accounts',
  description: 'Ends the link of a Slack account to the caller.',
  isBuntingExtension: true,
  http: { method: 'DELETE', url: '/api/admin/user/slack-accounts/:id', anyContentType: true },
  permission: 'authenticated',
  params: AccountPath,
});

export const ListUserSlackAccounts = defineOperation({
  subject: 'call.gateway.list-user-slack-accounts',
  operationId: 'getUserSlackAccounts',
  summary: 'List the Slack accounts of a user',
  description: 'Returns the Slack accounts that act as a user.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/user-admin/:id/slack-accounts' },
  permission: 'ADMIN',
  params: AccountPath,
  reply: SlackAccounts,
});

/** Emits `slack-account-unlinked`. */
export const UnlinkUserSlackAccount = defineOperation({
  subject: 'call.gateway.unlink-user-slack-account',
  summary: 'Unlink a Slack account of a user',
  description: 'Ends the link of a Slack account to a user.',
  isBuntingExtension: true,
  http: { method: 'DELETE', url: '/api/admin/user-admin/:id/slack-accounts/:tokenId', anyContentType: true },
  permission: 'ADMIN',
  params: AccountTokenPath,
});

const person = Nullable(Type.Object({ id: Type.Integer(), name: Type.String() }), {
  description: 'the active user whom the Slack account acts as; null if it is linked to none',
});

/**
 * Makes a link for a Slack account that acts as nobody, and says whom another one acts as. A new link ends earlier ones of the account. The
 * token is a secret for the owner of the Slack account alone.
 */
export const InviteSlackUser = defineOperation({
  subject: 'call.gateway.invite-slack-user',
  summary: 'Make a link by which a person links a Slack account, unless it is linked',
  idempotent: false,
  body: Type.Object({
    ...namedSlackUser,
    email: Type.Optional(
      Type.String({
        maxLength: 320,
        description: 'the e-mail address of the user, which Slack has confirmed; without it no link is made',
      }),
    ),
  }),
  reply: Type.Object({
    by: person,
    token: Nullable(Type.String(), {
      description: 'the token of the link; null for an account that acts as somebody, and without an e-mail address',
    }),
  }),
  tag: 'Internal',
});

export const slackReviews = ['approve', 'reject', 'comment'] as const;

/**
 * Reviews a change request as the person whom a Slack account acts as, by the operations of the REST API: with the rights that the person has now.
 * A retry with the same key has no further effect.
 */
export const ReviewAsSlackUser = defineOperation({
  subject: 'call.gateway.review-as-slack-user',
  summary: 'Review a change request as the person of a Slack account',
  idempotent: true,
  body: Type.Object({
    ...slackUser,
    key: Type.String({ minLength: 1, maxLength: 100, description: 'the same for each attempt of the same review' }),
    project: Type.String(),
    changeRequestId: Type.Integer(),
    review: Type.Enum([...slackReviews], { type: 'string' }),
    comment: Type.Optional(Type.String({ maxLength: maxCommentLength, description: 'the comment' })),
    revision: Type.Optional(Type.Integer({ description: 'the revision of the content that the person has seen' })),
    basis: Type.Optional(
      Type.String({ maxLength: 100, description: 'the basis of the effect that the person has seen, for an approval' }),
    ),
  }),
  reply: Type.Object({
    by: person,
    refusal: Nullable(Type.String(), { description: 'why the review was refused; null if it was given' }),
  }),
  tag: 'Internal',
});
