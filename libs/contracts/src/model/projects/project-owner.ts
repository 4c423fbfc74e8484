import { type Static, Type } from 'typebox';
import { Nullable } from '../schema.ts';

/** An owner of a project: a user or group with the role Owner, or the system when there is none. */
export const ProjectOwner = Type.Object(
  {
    ownerType: Type.Enum(['user', 'group', 'system'], { type: 'string', description: 'the kind of the owner' }),
    name: Type.Optional(Type.String({ description: 'the name of the user or the group' })),
    email: Type.Optional(Nullable(Type.String(), { description: 'the e-mail address of the user' })),
    imageUrl: Type.Optional(Type.String({ description: 'a picture of the user' })),
  },
  { title: 'projectOwnerSchema', description: 'An owner of a project.' },
);
export type ProjectOwner = Static<typeof ProjectOwner>;
