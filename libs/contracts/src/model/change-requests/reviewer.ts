import { type Static, Type } from 'typebox';

const card = {
  id: Type.Integer({ description: 'the id of the user' }),
  email: Type.Optional(Type.String({ description: 'the e-mail address' })),
  name: Type.Optional(Type.String({ description: 'the name' })),
  username: Type.Optional(Type.String({ description: 'the user name' })),
  imageUrl: Type.Optional(Type.String({ description: "the address of the user's picture" })),
} as const;

/** A user who may approve change requests. */
export const Reviewer = Type.Object(card, {
  title: 'availableReviewerSchema',
  description: 'A user who may approve change requests.',
});
export type Reviewer = Static<typeof Reviewer>;

/** A user whose approval is requested; a deleted user has only an id. */
export const RequestedReviewer = Type.Object(
  {
    ...card,
    status: Type.Enum(['approved', 'rejected', 'pending'], {
      type: 'string',
      description: 'the decision of the reviewer',
    }),
  },
  {
    title: 'requestedReviewerSchema',
    description: 'A requested reviewer; a deleted user has only an id.',
  },
);
export type RequestedReviewer = Static<typeof RequestedReviewer>;
