import { type Static, Type } from 'typebox';
import { Role } from './role.ts';
import { maxPasswordLength } from './account.ts';
import { Nullable } from '../schema.ts';
import { linkSecret, password } from './sign-in-properties.ts';

/** The user whose password a link sets, in the form of Unleash. */
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
