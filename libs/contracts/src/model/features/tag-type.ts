import { type Static, Type } from 'typebox';
import { urlFriendlyPattern } from '../documented-patterns.ts';
import { Constant, Nullable } from '../schema.ts';
import { maxTagTypeLength, minTagLength } from './tag.ts';

const description = Type.Optional(Nullable(Type.String(), { description: 'the description of the tag type' }));
const icon = Type.Optional(
  Nullable(Type.String(), { description: 'the name of an icon, or the address of a picture' }),
);
const color = Type.Optional(Nullable(Type.String({ maxLength: 50 }), { description: 'the colour, such as #FFFFFF' }));

/** A type of tags. */
export const TagTypeDescription = Type.Object(
  { name: Type.String({ description: 'the name of the tag type' }), description, icon, color },
  { title: 'tagTypeSchema', description: 'A type of tags.' },
);
export type TagTypeDescription = Static<typeof TagTypeDescription>;

export const TagTypes = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    tagTypes: Type.Array(TagTypeDescription, { description: 'the tag types' }),
  },
  { title: 'tagTypesSchema', description: 'The tag types.' },
);
export type TagTypes = Static<typeof TagTypes>;

export const TagTypeWithVersion = Type.Object({
  version: Constant(1, 'the version of this format'),
  tagType: TagTypeDescription,
});
export type TagTypeWithVersion = Static<typeof TagTypeWithVersion>;

export const TagTypeBody = Type.Object(
  {
    name: Type.String({
      minLength: minTagLength,
      maxLength: maxTagTypeLength,
      documentedPattern: urlFriendlyPattern,
      description: 'the name: characters that need no escape in a URL',
    }),
    description,
    icon,
    color,
  },
  { title: 'createTagTypeSchema', description: 'The properties of a new tag type.' },
);
export type TagTypeBody = Static<typeof TagTypeBody>;

export const UpdateTagTypeBody = Type.Object(
  { description, icon, color },
  { title: 'updateTagTypeSchema', description: 'The new properties of a tag type.' },
);
export type UpdateTagTypeBody = Static<typeof UpdateTagTypeBody>;

export const TagTypeValidation = Type.Object(
  { valid: Type.Boolean({ description: 'true' }), tagType: TagTypeDescription },
  { title: 'validateTagTypeSchema', description: 'A tag type that could be created.' },
);
export type TagTypeValidation = Static<typeof TagTypeValidation>;
