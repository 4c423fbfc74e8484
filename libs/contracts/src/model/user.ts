import { type Static, Type } from 'typebox';

/** Who it was, for people to read. */
export const UserReference = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the user' }),
    name: Type.String({ description: "the user's name, else username, else e-mail, else `unknown`" }),
    imageUrl: Type.String({ description: "the address of the user's picture" }),
  },
  { description: 'Who it was, for people to read.' },
);
export type UserReference = Static<typeof UserReference>;
