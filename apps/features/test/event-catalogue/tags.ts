import {
  AddFeatureTag,
  CreateContextField,
  CreateTag,
  CreateTagType,
  DeleteContextField,
  DeleteTag,
  DeleteTagType,
  RemoveFeatureTag,
  RemoveLegalValue,
  SetLegalValue,
  TagFeatures,
  UpdateContextField,
  UpdateFeatureTags,
  UpdateTagType,
} from '@bunting/contracts';
import { type CatalogueRow, inOrder, send, type Step } from '../event-catalogue.ts';
import {
  contextFieldNamed,
  inShop,
  lampEvent,
  lampPath,
  red,
  shopPath,
  storedFeatures,
  tagTypeNamed,
} from './fixtures.ts';

const blue = { type: 'simple', value: 'blue' };

export const tagRows: readonly CatalogueRow[] = [
  {
    write: 'tagging a feature',
    given: storedFeatures({}),
    request: send(AddFeatureTag, { params: lampPath, body: blue }),
    emits: [{ type: 'tag-created', data: blue }, lampEvent('feature-tagged', { data: blue, tags: [blue, red] })],
    repeated: 'emits nothing',
  },
  {
    write: 'removing a tag from a feature',
    given: storedFeatures({}),
    request: send(RemoveFeatureTag, { params: { featureName: 'lamp', ...red } }),
    emits: [lampEvent('feature-untagged', { preData: red })],
    repeated: 'emits nothing',
  },
  {
    write: 'changing the tags of a feature',
    given: storedFeatures({}),
    request: send(UpdateFeatureTags, { params: lampPath, body: { addedTags: [blue], removedTags: [red] } }),
    emits: [
      { type: 'tag-created', data: blue },
      lampEvent('feature-tagged', { data: blue, tags: [blue, red] }),
      lampEvent('feature-untagged', { preData: red, tags: [blue, red] }),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'changing the tags of features in bulk',
    given: storedFeatures({}, { name: 'bare', tags: [] }),
    request: send(TagFeatures, {
      params: shopPath,
      body: { features: ['lamp', 'bare'], tags: { addedTags: [blue], removedTags: [red] } },
    }),
    emits: [
      { type: 'tag-created', data: blue },
      lampEvent('feature-tagged', { data: blue, tags: [blue, red] }),
      lampEvent('feature-untagged', { preData: red, tags: [blue, red] }),
      { type: 'feature-tagged', ...inShop, featureName: 'bare', data: blue, tags: [blue] },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'creating a tag',
    request: send(CreateTag, { body: { type: 'simple', value: ' green ' } }),
    emits: [{ type: 'tag-created', data: { type: 'simple', value: 'green' } }],
    repeated: 'is refused',
  },
  {
    write: 'deleting a tag that a feature has',
    given: inOrder(send(CreateTag, { body: red }), storedFeatures({})),
    request: send(DeleteTag, { params: red }),
    emits: [lampEvent('feature-untagged', { preData: red }), { type: 'tag-deleted', data: red }],
    repeated: 'is refused',
  },
  {
    write: 'creating a tag type',
    request: send(CreateTagType, { body: { name: 'team', description: 'Whose it is.' } }),
    emits: [{ type: 'tag-type-created', data: tagTypeNamed('team', 'Whose it is.') }],
    repeated: 'is refused',
  },
  {
    write: 'updating a tag type',
    given: send(CreateTagType, { body: { name: 'size' } }),
    request: send(UpdateTagType, { params: { name: 'size' }, body: { description: 'How big it is.' } }),
    emits: [{ type: 'tag-type-updated', preData: tagTypeNamed('size'), data: tagTypeNamed('size', 'How big it is.') }],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting a tag type whose tags a feature has',
    given: inOrder(
      send(CreateTagType, { body: { name: 'shade' } }),
      storedFeatures({ tags: [{ type: 'shade', value: 'dark' }] }),
    ),
    request: send(DeleteTagType, { params: { name: 'shade' } }),
    emits: [
      lampEvent('feature-untagged', {
        preData: { type: 'shade', value: 'dark' },
        tags: [{ type: 'shade', value: 'dark' }],
      }),
      { type: 'tag-type-deleted', preData: tagTypeNamed('shade') },
    ],
    repeated: 'is refused',
  },
];

const createContextField = (name: string): Step => send(CreateContextField, { body: { name } });

export const contextFieldRows: readonly CatalogueRow[] = [
  {
    write: 'creating a context field',
    request: createContextField('country'),
    emits: [{ type: 'context-field-created', data: contextFieldNamed('country') }],
    repeated: 'is refused',
  },
  {
    write: 'updating a context field',
    given: createContextField('city'),
    request: send(UpdateContextField, { params: { name: 'city' }, body: { description: 'Where it is.' } }),
    emits: [
      {
        type: 'context-field-updated',
        preData: contextFieldNamed('city'),
        data: contextFieldNamed('city', 'Where it is.'),
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'setting a legal value',
    given: createContextField('planet'),
    request: send(SetLegalValue, { params: { name: 'planet' }, body: { value: 'mars' } }),
    emits: [
      {
        type: 'context-field-updated',
        preData: contextFieldNamed('planet'),
        data: { ...contextFieldNamed('planet'), legalValues: [{ value: 'mars' }] },
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'removing a legal value',
    given: send(CreateContextField, { body: { name: 'moon', legalValues: [{ value: 'io' }] } }),
    request: send(RemoveLegalValue, { params: { name: 'moon', value: 'io' } }),
    emits: [
      {
        type: 'context-field-updated',
        preData: { ...contextFieldNamed('moon'), legalValues: [{ value: 'io' }] },
        data: contextFieldNamed('moon'),
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting a context field',
    given: createContextField('street'),
    request: send(DeleteContextField, { params: { name: 'street' } }),
    emits: [{ type: 'context-field-deleted', preData: contextFieldNamed('street') }],
    repeated: 'is refused',
  },
];
