import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { AccountPath } from '../paths.ts';
import { Nullable } from '../schemas.ts';
import { Role } from './roles.ts';
import { ClientAddressQuery, linkSecret, LinkSecretQuery, password, SessionClientQuery } from './sign-in.ts';
import { maxPasswordLength } from './account.ts';

const defineOperation = operationsOf('Users');

export const ResetLinkUser = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the user' }),
    name: Type.Optional(Type.String({ description: 'the name of the user' })),
    email: Type.Optional(Type.String({ description: 'the e-mail address of the user' })),
    token: linkSecret,
    createdBy: Nullable(Type.String(), {
      description: 'the creator of the link; null if the user requested it by mail',
    }),
    role: Role,
  },
  { title: 'tokenUserSchema', description: 'The user whose password the link sets.' },
);
export type ResetLinkUser = Static<typeof ResetLinkUser>;

export const ResetPasswordBody = Type.Object(
  { token: linkSecret, password },
  { title: 'changePasswordSchema', description: 'A link to choose a password, and the password.' },
);

export const PasswordToCheck = Type.Object(
  { password },
  { title: 'validatePasswordSchema', description: 'A password whose strength is checked.' },
);

export const EmailAddressBody = Type.Object(
  { email: Type.String({ minLength: 1, maxLength: 255, description: 'the e-mail address' }) },
  { title: 'emailSchema', description: 'An e-mail address.' },
);

const newPassword = {
  password,
  confirmPassword: Type.Optional(
    Type.String({ maxLength: maxPasswordLength, description: 'the password again; it must be the same' }),
  ),
};

export const ChangePasswordBody = Type.Object(newPassword, {
  title: 'passwordSchema',
  description: 'A new password.',
});

export const ChangeOwnPasswordBody = Type.Object(
  {
    ...newPassword,
    oldPassword: Type.String({ minLength: 1, maxLength: maxPasswordLength, description: 'the present password' }),
  },
  { title: 'ownPasswordSchema', description: 'A new password and the present one.' },
);

export const ResetLinkBody = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: 255, description: 'the e-mail address or the user name' }) },
  { title: 'userNameSchema', description: 'The user of the link.' },
);

export const ResetLink = Type.Object(
  { resetPasswordUrl: Type.String({ description: 'the address of the page on which the user chooses a password' }) },
  { title: 'resetPasswordSchema', description: 'A link to choose a password.' },
);

export const PasswordSettings = Type.Object(
  { disabled: Type.Boolean({ description: 'whether signing in with a password is off' }) },
  { title: 'passwordAuthSchema', description: 'Whether users can sign in with a password.' },
);
export type PasswordSettings = Static<typeof PasswordSettings>;

export const ChangeOwnPassword = defineOperation({
  subject: 'call.gateway.change-own-password',
  operationId: 'changeMyPassword',
  summary: 'Set the own password',
  description:
    'Sets the password of the caller, who sends the current one. All sessions of the caller end; the browser that sends the request gets a new one.',
  http: {
    method: 'POST',
    url: '/api/admin/user/change-password',
    address: 'address',
    headers: { userAgent: 'User-Agent' },
  },
  permission: 'authenticated',
  query: SessionClientQuery,
  body: ChangeOwnPasswordBody,
  errors: [
    'ValidationError',
    'OwaspValidationError',
    'PasswordPreviouslyUsedError',
    'PasswordMismatch',
    'ForbiddenError',
    'RateLimitError',
  ],
});

export const ChangeUserPassword = defineOperation({
  subject: 'call.gateway.change-user-password',
  summary: 'Set the password of a user',
  description: 'Sets the password of a user. All sessions of the user end.',
  http: { method: 'POST', url: '/api/admin/user-admin/:id/change-password' },
  permission: 'ADMIN',
  params: AccountPath,
  body: ChangePasswordBody,
  errors: ['ValidationError', 'OwaspValidationError', 'PasswordPreviouslyUsedError', 'NotFoundError'],
});

export const CheckPasswordStrength = defineOperation({
  subject: 'call.gateway.check-password-strength',
  operationId: 'validatePassword',
  summary: 'Validate the strength of a password',
  description: 'Validates the strength of a password, for the pages on which users choose one before they sign in.',
  tag: 'Auth',
  http: { method: 'POST', url: '/auth/reset/validate-password' },
  readsOnly: true,
  permission: 'public',
  body: PasswordToCheck,
  errors: ['ValidationError', 'OwaspValidationError'],
});

export const CreateResetLink = defineOperation({
  subject: 'call.gateway.create-reset-link',
  operationId: 'resetUserPassword',
  summary: 'Create a password reset link',
  description:
    'Returns a link by which the user chooses a password, once and within a day. It replaces earlier links of the user, and is also sent by mail where a mail server is set.',
  http: { method: 'POST', url: '/api/admin/user-admin/reset-password' },
  permission: 'ADMIN',
  body: ResetLinkBody,
  reply: ResetLink,
  errors: ['ValidationError', 'NotFoundError'],
});

export const RequestPasswordReset = defineOperation({
  subject: 'call.gateway.request-password-reset',
  operationId: 'sendResetPasswordEmail',
  summary: 'Request a password reset link',
  description:
    'Sends a link by mail if a user has this address. The response is the same if none has, and where no mail server is set.',
  tag: 'Auth',
  http: { method: 'POST', url: '/auth/reset/password-email', address: 'address' },
  permission: 'public',
  query: ClientAddressQuery,
  body: EmailAddressBody,
  errors: ['InvalidOperationError', 'ValidationError', 'RateLimitError'],
});

export const ResetPassword = defineOperation({
  subject: 'call.gateway.reset-password',
  operationId: 'changePassword',
  summary: 'Set a password with a reset link',
  description: 'Sets the password of the user of the link, which works once. All sessions of the user end.',
  tag: 'Auth',
  http: { method: 'POST', url: '/auth/reset/password' },
  permission: 'public',
  body: ResetPasswordBody,
  errors: [
    'InvalidOperationError',
    'ValidationError',
    'OwaspValidationError',
    'PasswordPreviouslyUsedError',
    'InvalidTokenError',
    'UsedTokenError',
  ],
});

export const ValidateResetLink = defineOperation({
  subject: 'call.gateway.validate-reset-link',
  operationId: 'validateToken',
  summary: 'Validate a password reset link',
  description: 'Returns the user of the link. It can still be used afterwards.',
  tag: 'Auth',
  http: { method: 'GET', url: '/auth/reset/validate' },
  permission: 'public',
  query: LinkSecretQuery,
  reply: ResetLinkUser,
  errors: ['ValidationError', 'InvalidTokenError', 'UsedTokenError'],
});

export const ValidateUserPassword = defineOperation({
  subject: 'call.gateway.validate-user-password',
  summary: 'Validate the strength of a password',
  description: 'Returns whether a password is strong enough.',
  http: { method: 'POST', url: '/api/admin/user-admin/validate-password' },
  readsOnly: true,
  permission: 'authenticated',
  body: PasswordToCheck,
  errors: ['ValidationError', 'OwaspValidationError'],
});
