import { type Static, Type } from 'typebox';

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
