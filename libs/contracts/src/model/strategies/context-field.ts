import { type Static, Type } from 'typebox';
import { UrlFriendlyName } from '../text-schemas.ts';
import { Nullable, Timestamp } from '../schema.ts';

/** A value that constraints on a context field may use. */
export const LegalValue = Type.Object(
  {
    value: Type.String({ minLength: 1, maxLength: 100, description: 'the value' }),
    description: Type.Optional(
      Nullable(Type.String({ maxLength: 250 }), { description: 'the description of the value' }),
    ),
  },
  { title: 'legalValueSchema', description: 'A value that constraints on a context field may use.' },
);
export type LegalValue = Static<typeof LegalValue>;

const description = Type.Optional(
  Nullable(Type.String({ maxLength: 250 }), { description: 'the description of the field' }),
);
const stickiness = Type.Optional(
  Type.Boolean({ description: 'whether users can be kept on one variant by it; default: false' }),
);
const sortOrder = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'the position in lists' }),
);
/** The maximum number of legal values of a context field. */
export const maxLegalValues = 1_000;
const legalValues = Type.Optional(
  Type.Array(LegalValue, {
    maxItems: maxLegalValues,
    description: 'the only values that constraints may use; none: any',
  }),
);

/** A field of the context in which flags are evaluated. */
export const ContextField = Type.Object(
  {
    name: Type.String({ description: 'the name of the field' }),
    description: Type.Optional(Nullable(Type.String())),
    stickiness,
    // An imported one may be negative.
    sortOrder: Type.Optional(Type.Integer({ description: 'the position in lists' })),
    legalValues: Type.Optional(Type.Array(LegalValue)),
    createdAt: Type.Optional(Nullable(Timestamp('when the field was added'))),
    usedInProjects: Type.Optional(
      Nullable(Type.Integer({ description: 'the number of projects whose constraints use it' })),
    ),
    usedInFeatures: Type.Optional(
      Nullable(Type.Integer({ description: 'the number of features whose constraints use it' })),
    ),
  },
  { title: 'contextFieldSchema', description: 'A field of the context in which flags are evaluated.' },
);
export type ContextField = Static<typeof ContextField>;

export const ContextFields = Type.Array(ContextField, {
  title: 'contextFieldsSchema',
  description: 'The context fields, by name.',
});
export type ContextFields = Static<typeof ContextFields>;

export const CreateContextFieldBody = Type.Object(
  {
    name: UrlFriendlyName('the name: 1 to 100 characters that need no escape in a URL'),
    description,
    stickiness,
    sortOrder,
    legalValues,
  },
  { title: 'createContextFieldSchema', description: 'The properties of a new context field.' },
);
export type CreateContextFieldBody = Static<typeof CreateContextFieldBody>;

export const UpdateContextFieldBody = Type.Object(
  { description, stickiness, sortOrder, legalValues },
  {
    title: 'updateContextFieldSchema',
    description: 'The new properties of a context field. Omitted properties are cleared.',
  },
);
export type UpdateContextFieldBody = Static<typeof UpdateContextFieldBody>;

export const ContextFieldStrategies = Type.Object(
  {
    strategies: Type.Array(
      Type.Object({
        id: Type.String({ description: 'the id of the strategy' }),
        projectId: Type.String({ description: 'the project of its feature' }),
        featureName: Type.String({ description: 'its feature' }),
        strategyName: Type.String({ description: 'its type' }),
        environment: Type.String({ description: 'its environment' }),
      }),
      { description: 'the usages of the context field' },
    ),
  },
  { title: 'contextFieldStrategiesSchema', description: 'The strategies that use a context field.' },
);
export type ContextFieldStrategies = Static<typeof ContextFieldStrategies>;
