import { type Static, Type } from 'typebox';
import { Constant } from '../schema.ts';

/** The minimum number of characters of a tag's value, without spaces around it. */
export const minTagLength = 2;

/** The maximum number of characters of the name of a tag type. */
export const maxTagTypeLength = 50;

export const TagValue = Type.String({ minLength: minTagLength, maxLength: 50, description: 'the value of the tag' });
export const TagType = Type.String({
  minLength: minTagLength,
  maxLength: maxTagTypeLength,
  description: 'the type of the tag',
});

/** A typed label on a feature. Lengths are counted in characters, not in UTF-16 units. */
export const Tag = Type.Object(
  { value: TagValue, type: TagType },
  { title: 'tagSchema', description: 'A typed label on a feature.', additionalProperties: false },
);
export type Tag = Static<typeof Tag>;

export const Tags = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    tags: Type.Array(Tag, { description: 'the tags of the feature' }),
  },
  { title: 'tagsSchema', description: 'The tags of a feature.' },
);
export type Tags = Static<typeof Tags>;

export const TagWithVersion = Type.Object(
  { version: Constant(1, 'the version of this format'), tag: Tag },
  { title: 'tagWithVersionSchema' },
);
export type TagWithVersion = Static<typeof TagWithVersion>;

const addedTags = Type.Array(Tag, { maxItems: 1_000, description: 'the tags to add' });
const removedTags = Type.Array(Tag, { maxItems: 1_000, description: 'the tags to remove' });

export const UpdateTagsBody = Type.Object(
  { addedTags, removedTags },
  { title: 'updateTagsSchema', description: 'Tags to add and to remove.', additionalProperties: false },
);
export type UpdateTagsBody = Static<typeof UpdateTagsBody>;

export const BulkTagsBody = Type.Object(
  {
    features: Type.Array(Type.String(), { maxItems: 10_000, description: 'the names of the features' }),
    tags: Type.Object({ addedTags, removedTags }, { additionalProperties: false }),
  },
  {
    title: 'tagsBulkAddSchema',
    description: 'Features, and the tags to add and to remove.',
    additionalProperties: false,
  },
);
export type BulkTagsBody = Static<typeof BulkTagsBody>;
