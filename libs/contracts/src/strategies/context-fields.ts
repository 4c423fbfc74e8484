import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { LegalValuePath } from '../paths.ts';
import { Nullable, Timestamp, UrlFriendlyName, ValidateNameBody } from '../schemas.ts';

const defineOperation = operationsOf('Context');

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

/** Emits `context-field-created`. */
export const CreateContextField = defineOperation({
  subject: 'call.features.create-context-field',
  summary: 'Create a context field',
  description: 'Adds a field that constraints may use.',
  http: {
    method: 'POST',
    url: '/api/admin/context',
    status: 201,
    location: ({ body }: { body: { name: string } }) => `context/${encodeURIComponent(body.name)}`,
  },
  permission: 'CREATE_CONTEXT_FIELD',
  body: CreateContextFieldBody,
  reply: ContextField,
  errors: ['ValidationError', 'NameExistsError'],
});

/** Emits `context-field-deleted`. */
export const DeleteContextField = defineOperation({
  subject: 'call.features.delete-context-field',
  summary: 'Delete a context field',
  description: 'Removes a context field that no strategy uses.',
  http: { method: 'DELETE', url: '/api/admin/context/:name', anyContentType: true },
  permission: 'DELETE_CONTEXT_FIELD',
  errors: ['NotFoundError', 'ConflictError'],
});

export const GetContextField = defineOperation({
  subject: 'call.features.get-context-field',
  summary: 'Get a context field',
  description: 'Returns one context field.',
  http: { method: 'GET', url: '/api/admin/context/:name' },
  permission: 'authenticated',
  reply: ContextField,
});

export const ListContextFields = defineOperation({
  subject: 'call.features.list-context-fields',
  operationId: 'getContextFields',
  summary: 'List the context fields',
  description: 'Returns the context fields, by name.',
  http: { method: 'GET', url: '/api/admin/context' },
  isHeavy: true,
  permission: 'authenticated',
  reply: ContextFields,
});

export const ListStrategiesOfContextField = defineOperation({
  subject: 'call.features.list-strategies-of-context-field',
  operationId: 'getStrategiesByContextField',
  summary: 'List the strategies that use a context field',
  description: 'Returns the strategies that use a context field.',
  http: { method: 'GET', url: '/api/admin/context/:name/strategies' },
  isHeavy: true,
  permission: 'authenticated',
  reply: ContextFieldStrategies,
});

/** Emits `context-field-updated`. */
export const RemoveLegalValue = defineOperation({
  subject: 'call.features.remove-legal-value',
  operationId: 'deleteContextFieldLegalValue',
  summary: 'Remove a legal value',
  description: 'Removes a legal value from a context field. An unknown value is no error.',
  http: { method: 'DELETE', url: '/api/admin/context/:name/legal-values/:value', anyContentType: true },
  permission: 'UPDATE_CONTEXT_FIELD',
  params: LegalValuePath,
});

/** Emits `context-field-updated`. */
export const SetLegalValue = defineOperation({
  subject: 'call.features.set-legal-value',
  operationId: 'updateContextFieldLegalValue',
  summary: 'Set a legal value',
  description: 'Adds a legal value to a context field, or replaces the description of the one that has this value.',
  http: { method: 'POST', url: '/api/admin/context/:name/legal-values' },
  permission: 'UPDATE_CONTEXT_FIELD',
  body: LegalValue,
  errors: ['ValidationError', 'NotFoundError', 'ExceedsLimitError'],
});

/** Emits `context-field-updated`. */
export const UpdateContextField = defineOperation({
  subject: 'call.features.update-context-field',
  summary: 'Update a context field',
  description: 'Replaces the description, the legal values, the order and the stickiness of a context field.',
  http: { method: 'PUT', url: '/api/admin/context/:name' },
  permission: 'UPDATE_CONTEXT_FIELD',
  body: UpdateContextFieldBody,
});

export const ValidateContextFieldName = defineOperation({
  subject: 'call.features.validate-context-field-name',
  operationId: 'validate',
  summary: 'Validate the name of a context field',
  description: 'Validates the name of a new context field. Nothing is stored.',
  http: { method: 'POST', url: '/api/admin/context/validate' },
  permission: 'authenticated',
  readsOnly: true,
  body: ValidateNameBody,
  errors: ['ValidationError', 'NameExistsError'],
});
