import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { FeatureTagPath, TagPath, TagTypePath } from '../paths.ts';
import { Constant, Nullable, PageQuery, urlFriendlyPattern } from '../schemas.ts';

const defineOperation = operationsOf('Tags');

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

/** Lengths are counted in characters, not in UTF-16 units. */
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

const addedTags = Type.Array(Tag, { maxItems: 1_000, description: 'the tags to add' });
const removedTags = Type.Array(Tag, { maxItems: 1_000, description: 'the tags to remove' });

export const UpdateTagsBody = Type.Object(
  { addedTags, removedTags },
  { title: 'updateTagsSchema', description: 'Tags to add and to remove.', additionalProperties: false },
);

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

const description = Type.Optional(Nullable(Type.String(), { description: 'the description of the tag type' }));
const icon = Type.Optional(
  Nullable(Type.String(), { description: 'the name of an icon, or the address of a picture' }),
);
const color = Type.Optional(Nullable(Type.String({ maxLength: 50 }), { description: 'the colour, such as #FFFFFF' }));

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

export const TagTypeWithVersion = Type.Object({
  version: Constant(1, 'the version of this format'),
  tagType: TagTypeDescription,
});

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

/** Emits `tag-type-created`. */
export const CreateTagType = defineOperation({
  subject: 'call.features.create-tag-type',
  summary: 'Create a tag type',
  description: 'Adds a type of tags.',
  http: {
    method: 'POST',
    url: '/api/admin/tag-types',
    status: 201,
    location: (_request: unknown, { name }: { name: string }) => `tag-types/${encodeURIComponent(name)}`,
  },
  permission: 'CREATE_TAG_TYPE',
  body: TagTypeBody,
  reply: TagTypeDescription,
  errors: ['ValidationError', 'NameExistsError'],
});

/** Emits `tag-type-deleted`, and `feature-untagged` for each tag of each feature that had one. */
export const DeleteTagType = defineOperation({
  subject: 'call.features.delete-tag-type',
  summary: 'Delete a tag type',
  description: 'Removes a tag type with all its tags, from every feature too.',
  http: { method: 'DELETE', url: '/api/admin/tag-types/:name', anyContentType: true, takesLong: true },
  permission: 'DELETE_TAG_TYPE',
});

export const GetTagType = defineOperation({
  subject: 'call.features.get-tag-type',
  summary: 'Get a tag type',
  description: 'Returns one tag type.',
  http: { method: 'GET', url: '/api/admin/tag-types/:name' },
  permission: 'authenticated',
  reply: TagTypeWithVersion,
});

export const ListTagTypes = defineOperation({
  subject: 'call.features.list-tag-types',
  operationId: 'getTagTypes',
  summary: 'List the tag types',
  description: 'Returns the tag types.',
  http: { method: 'GET', url: '/api/admin/tag-types' },
  permission: 'authenticated',
  reply: TagTypes,
});

/** Emits `tag-type-updated`. */
export const UpdateTagType = defineOperation({
  subject: 'call.features.update-tag-type',
  summary: 'Update a tag type',
  description: 'Changes the description, the icon or the colour of a tag type.',
  http: { method: 'PUT', url: '/api/admin/tag-types/:name' },
  permission: 'UPDATE_TAG_TYPE',
  body: UpdateTagTypeBody,
});

export const ValidateTagType = defineOperation({
  subject: 'call.features.validate-tag-type',
  summary: 'Validate a tag type',
  description: 'Validates a new tag type. Nothing is stored.',
  http: { method: 'POST', url: '/api/admin/tag-types/validate' },
  permission: 'authenticated',
  readsOnly: true,
  body: TagTypeBody,
  reply: TagTypeValidation,
  errors: ['ValidationError', 'NameExistsError'],
});

/** Emits `tag-created`. */
export const CreateTag = defineOperation({
  subject: 'call.features.create-tag',
  summary: 'Create a tag',
  description: 'Adds a tag to the catalogue; its value is trimmed.',
  http: {
    method: 'POST',
    url: '/api/admin/tags',
    status: 201,
    location: (_request: unknown, { tag }: { tag: { type: string; value: string } }) =>
      `tags/${encodeURIComponent(tag.type)}/${encodeURIComponent(tag.value)}`,
  },
  permission: 'authenticated',
  body: Tag,
  reply: TagWithVersion,
  errors: ['ValidationError', 'NameExistsError'],
});

/** Emits `tag-deleted`, and `feature-untagged` for each feature that had it. */
export const DeleteTag = defineOperation({
  subject: 'call.features.delete-tag',
  summary: 'Delete a tag',
  description: 'Removes a tag from the catalogue and from every feature.',
  http: { method: 'DELETE', url: '/api/admin/tags/:type/:value', anyContentType: true, takesLong: true },
  permission: 'UPDATE_FEATURE',
  params: TagPath,
});

export const GetTag = defineOperation({
  subject: 'call.features.get-tag',
  summary: 'Get a tag',
  description: 'Returns a tag of the catalogue.',
  http: { method: 'GET', url: '/api/admin/tags/:type/:value' },
  permission: 'authenticated',
  params: TagPath,
  reply: TagWithVersion,
});

export const ListTagsOfType = defineOperation({
  subject: 'call.features.list-tags-of-type',
  operationId: 'getTagsByType',
  summary: 'List the tags of a type',
  description: 'Returns the tags of one type.',
  http: { method: 'GET', url: '/api/admin/tags/:type' },
  permission: 'authenticated',
  params: TagTypePath,
  query: PageQuery('tags'),
  reply: Tags,
  errors: [],
});

export const ListTags = defineOperation({
  subject: 'call.features.list-tags',
  operationId: 'getTags',
  summary: 'List the tags',
  description: 'Returns the catalogue of tags.',
  http: { method: 'GET', url: '/api/admin/tags' },
  permission: 'authenticated',
  query: PageQuery('tags'),
  reply: Tags,
});

/** Emits `feature-tagged`, after `tag-created` for a tag that is new. */
export const AddFeatureTag = defineOperation({
  subject: 'call.features.add-feature-tag',
  operationId: 'addTag',
  summary: 'Add a tag to a feature',
  description: 'Adds a tag to a feature. The type of the tag must exist; the tag itself is created if it does not.',
  tag: 'Features',
  http: {
    method: 'POST',
    url: '/api/admin/features/:featureName/tags',
    status: 201,
    location: ({ params }: { params: { featureName: string } }) => `${encodeURIComponent(params.featureName)}/tags`,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  body: Tag,
  reply: Tag,
});

export const ListFeatureTags = defineOperation({
  subject: 'call.features.list-feature-tags',
  operationId: 'listTags',
  summary: 'List the tags of a feature',
  description: 'Returns the tags of a feature.',
  tag: 'Features',
  http: { method: 'GET', url: '/api/admin/features/:featureName/tags' },
  permission: 'authenticated',
  reply: Tags,
});

/** Emits `feature-untagged`, if the tag was there. */
export const RemoveFeatureTag = defineOperation({
  subject: 'call.features.remove-feature-tag',
  operationId: 'removeTag',
  summary: 'Remove a tag from a feature',
  description: 'Removes a tag from a feature. The response is the same if the feature does not have the tag.',
  tag: 'Features',
  http: {
    method: 'DELETE',
    url: '/api/admin/features/:featureName/tags/:type/:value',
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: FeatureTagPath,
});

/** Emits `feature-tagged` and `feature-untagged` for each tag of each feature that changed. */
export const TagFeatures = defineOperation({
  subject: 'call.features.tag-features',
  operationId: 'addTagToFeatures',
  summary: 'Update the tags of many features',
  description: 'Adds and removes tags of features of a project, all or nothing.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/tags', takesLong: true },
  permission: 'UPDATE_FEATURE',
  body: BulkTagsBody,
});

/** Emits `feature-tagged` and `feature-untagged` for each tag that changed. */
export const UpdateFeatureTags = defineOperation({
  subject: 'call.features.update-feature-tags',
  operationId: 'updateTags',
  summary: 'Update the tags of a feature',
  description: 'Adds and removes tags in one transaction.',
  tag: 'Features',
  http: { method: 'PUT', url: '/api/admin/features/:featureName/tags' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  body: UpdateTagsBody,
  reply: Tags,
});
