import { Type, type Static } from 'typebox';
import { Nullable, Timestamp, emailPattern } from '../schemas.ts';

/** The maximum length of a password in characters: longer ones are refused before they are hashed. */
export const maxPasswordLength = 1_000;

const id = Type.Integer({ description: 'the id of the user' });
const name = Type.Optional(Type.String({ description: 'the name of the user; absent if there is none' }));
const username = Type.Optional(Type.String({ description: 'the username; absent if there is none' }));
const email = Type.Optional(Type.String({ description: 'the e-mail address; absent if there is none' }));
const imageUrl = Type.String({ description: 'the address of the picture' });
const loginAttempts = Type.Integer({ description: 'always 0: failed sign-ins are limited, and lock no user' });
const scimId = Nullable(Type.String(), {
  description: 'the id under which an identity provider manages the user through SCIM; null when none does',
});
const rootRole = Type.Integer({ description: 'the id of the root role' });
const seenAt = Nullable(Timestamp('when it was last used'));
const createdAt = Timestamp('when it was created');
/* @__NO_SIDE_EFFECTS__ */
export function AccountText(description: string) {
  return Nullable(Type.String({ maxLength: 255 }), { description });
}
export const emailAddress = Nullable(Type.String({ maxLength: 255, documentedPattern: emailPattern }), {
  description: 'the e-mail address',
});
export const rootRoleReference = Type.Union([Type.Integer(), Type.String({ maxLength: 255 })], {
  description: 'the root role, by its id or by its name',
});
const accountType = Type.Enum(['User', 'Service Account'], {
  type: 'string',
  description: 'a person or a machine',
});
const active = Type.Boolean({ description: 'whether its keys work' });

/** A user or service account. */
export const User = Type.Object(
  {
    id,
    isAPI: Type.Boolean({ description: 'always false: a key alone is no user' }),
    name,
    username,
    email,
    imageUrl,
    rootRole,
    accountType,
    active,
    seenAt,
    createdAt,
    loginAttempts,
    scimId,
  },
  { title: 'userSchema', description: 'A user of Bunting.' },
);
export type User = Static<typeof User>;

export const RootRole = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the role' }),
    type: Type.String({ description: '`root`: predefined; `root-custom`: made here' }),
    name: Type.String({ description: 'the name of the role' }),
    description: Type.String({ description: 'the description of the role' }),
  },
  { title: 'rootRoleSchema', description: 'A role that holds everywhere.' },
);

/** A user in responses that name who created or changed something. */
export const UserReference = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the user' }),
    name: Type.String({ description: "the user's name, else username, else e-mail, else `unknown`" }),
    imageUrl: Type.String({ description: "the address of the user's picture" }),
  },
  { description: 'The name of the user, for display.' },
);
export type UserReference = Static<typeof UserReference>;

/** A user in calls between services, with the properties that other users may see. */
export const UserCard = Type.Object({
  id: Type.Integer(),
  name: Type.Union([Type.String(), Type.Null()]),
  username: Type.Union([Type.String(), Type.Null()]),
  email: Type.Union([Type.String(), Type.Null()]),
  imageUrl: Type.Union([Type.String(), Type.Null()]),
});
