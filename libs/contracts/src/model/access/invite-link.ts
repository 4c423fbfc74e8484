import { type Static, Type } from 'typebox';
import { Role } from './role.ts';
import { User } from './account.ts';
import { Timestamp } from '../schema.ts';
import { emailAddress } from './account.ts';
import { password, username } from './sign-in-properties.ts';

const enabled = Type.Boolean({ description: 'whether the link works' });
const expiresAt = Timestamp('until when the link works');

/** An invitation link, with which people create their own accounts. */
export const InviteLink = Type.Object(
  {
    secret: Type.String({ description: 'the secret of the link' }),
    url: Type.String({ description: 'the address of the page on which people create their accounts' }),
    name: Type.String({ description: 'the name of the link' }),
    enabled,
    expiresAt,
    createdAt: Timestamp('when the link was created'),
    createdBy: Type.String({ description: 'the creator of the link' }),
    users: Type.Array(User, { description: 'the users who created an account with the link' }),
    role: Role,
  },
  { title: 'publicSignupTokenSchema', description: 'An invitation link, with which users create their own accounts.' },
);
export type InviteLink = Static<typeof InviteLink>;

export const InviteLinks = Type.Object(
  { tokens: Type.Array(InviteLink, { description: 'the links, in the order of their creation' }) },
  { title: 'publicSignupTokensSchema', description: 'The invitation links.' },
);

export const CreateInviteLinkBody = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 255, description: 'the name of the link' }), expiresAt },
  { title: 'publicSignupTokenCreateSchema', description: 'The properties of a new invitation link.' },
);

export const UpdateInviteLinkBody = Type.Object(
  { expiresAt: Type.Optional(expiresAt), enabled: Type.Optional(enabled) },
  { title: 'publicSignupTokenUpdateSchema', description: 'The properties of an invitation link to change.' },
);

export const SignUpBody = Type.Object(
  {
    name: Type.String({ maxLength: 255, description: 'the name of the user' }),
    username,
    email: emailAddress,
    password,
  },
  { title: 'createInvitedUserSchema', description: 'The user who creates an account with an invitation link.' },
);
