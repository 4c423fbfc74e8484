import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { maxId, Nullable, TextByKey } from '../schemas.ts';
import { Constraint } from '../strategies/constraints.ts';
import { Dependency } from './dependencies.ts';
import { featureMetadata, optionalFeatureSchemas } from './feature-fields.ts';
import { FeatureLinkBody } from './links.ts';
import { TagType, TagValue } from './tags.ts';
import { FeatureVariant, StrategyVariant } from './variants.ts';

const defineOperation = operationsOf('Import/Export');

const ExportedFeature = Type.Object(
  {
    name: Type.String({ description: 'the name of the feature' }),
    ...optionalFeatureSchemas('body'),
    type: Type.Optional(featureMetadata.type),
    project: Type.Optional(Type.String({ description: 'the project that it was exported from' })),
    archived: Type.Optional(Type.Boolean()),
  },
  { description: 'A feature without its settings in environments.' },
);

const ExportedStrategy = Type.Object(
  {
    name: Type.String({ description: 'the name, or type, of the strategy' }),
    id: Type.Optional(Type.String({ description: 'the id that it had where it was exported' })),
    featureName: Type.String({ description: 'the feature that the strategy belongs to' }),
    title: Type.Optional(Nullable(Type.String())),
    disabled: Type.Optional(Nullable(Type.Boolean())),
    sortOrder: Type.Optional(Type.Number({ minimum: -1_000_000_000, maximum: 1_000_000_000 })),
    parameters: Type.Optional(TextByKey()),
    constraints: Type.Optional(Type.Array(Constraint)),
    variants: Type.Optional(Type.Array(StrategyVariant)),
    segments: Type.Optional(
      Type.Array(Type.Number({ minimum: 0, maximum: maxId, multipleOf: 1 }), {
        description: 'ids that the list of segments in the same file names',
      }),
    ),
  },
  { description: 'A strategy of the exported environment.' },
);

const ExportedFeatureEnvironment = Type.Object(
  {
    featureName: Type.String({ description: 'the name of the feature' }),
    name: Type.Optional(Type.String({ description: 'the same as `featureName`' })),
    environment: Type.Optional(Type.String({ description: 'the environment that it was exported from' })),
    enabled: Type.Boolean({ description: 'whether the feature is enabled' }),
    variants: Type.Optional(Type.Array(FeatureVariant)),
  },
  { description: 'Whether a feature is enabled in the exported environment.' },
);

const ExportedContextField = Type.Object(
  {
    name: Type.String({ description: 'the name of the context field' }),
    description: Type.Optional(Nullable(Type.String())),
    stickiness: Type.Optional(Type.Boolean()),
    sortOrder: Type.Optional(Type.Number({ minimum: -1_000_000_000, maximum: 1_000_000_000 })),
    legalValues: Type.Optional(
      Type.Array(Type.Object({ value: Type.String(), description: Type.Optional(Nullable(Type.String())) })),
    ),
  },
  { description: 'A context field that a constraint names.' },
);

const ExportedFeatureTag = Type.Object(
  { featureName: Type.String({ description: 'the name of the feature' }), tagType: TagType, tagValue: TagValue },
  { description: 'A tag on a feature.' },
);

const ExportedSegment = Type.Object(
  {
    id: Type.Number({
      minimum: 0,
      maximum: maxId,
      multipleOf: 1,
      description: 'the id that strategies in this file use',
    }),
    name: Type.String({ description: 'the name, by which the segment is found here' }),
  },
  { description: 'A segment that a strategy uses, by name only.' },
);

const ExportedTagType = Type.Object(
  {
    name: TagType,
    description: Type.Optional(Nullable(Type.String())),
    icon: Type.Optional(Nullable(Type.String())),
    color: Type.Optional(Nullable(Type.String())),
  },
  { description: 'A type of tags.' },
);

const ExportedDependency = Type.Object(
  {
    feature: Type.String({ description: 'the name of the feature that depends on others' }),
    dependencies: Type.Array(Dependency),
  },
  { description: 'The dependencies of a feature.' },
);

const ExportedLinks = Type.Object(
  {
    feature: Type.String({ description: 'the name of the feature' }),
    links: Type.Array(
      Type.Object({
        ...FeatureLinkBody.properties,
        id: Type.Optional(Type.String({ description: 'the id that it had where it was exported' })),
      }),
      { description: 'its links' },
    ),
  },
  { description: 'The links of a feature.' },
);

/** Features with their settings, tags and segments in one environment, in the format of Unleash. Other members are ignored. */
export const ExportedFeatures = Type.Object(
  {
    features: Type.Array(ExportedFeature, { description: 'the features' }),
    featureStrategies: Type.Array(ExportedStrategy, { description: 'their strategies in the exported environment' }),
    featureEnvironments: Type.Optional(
      Type.Array(ExportedFeatureEnvironment, { description: 'which of them are enabled in the exported environment' }),
    ),
    contextFields: Type.Optional(Type.Array(ExportedContextField, { description: 'the context fields in use' })),
    featureTags: Type.Optional(Type.Array(ExportedFeatureTag, { description: 'the tags on the features' })),
    segments: Type.Optional(Type.Array(ExportedSegment, { description: 'the segments in use' })),
    tagTypes: Type.Array(ExportedTagType, { description: 'the types of the tags' }),
    dependencies: Type.Optional(Type.Array(ExportedDependency, { description: 'the dependencies of the features' })),
    links: Type.Optional(Type.Array(ExportedLinks, { description: 'the links of the features' })),
  },
  {
    title: 'exportResultSchema',
    description: 'Features with all that belongs to them in one environment, as Unleash exports them.',
  },
);
export type ExportedFeatures = Static<typeof ExportedFeatures>;

/** An export to import, with the project and environment to import it into. */
export const ImportFeaturesBody = Type.Object(
  {
    project: Type.String({ minLength: 1, description: 'the target project of the features' }),
    environment: Type.String({ minLength: 1, description: 'the target environment of strategies and enabled states' }),
    data: ExportedFeatures,
  },
  {
    title: 'importTogglesSchema',
    description: 'The data to import, with the target project and environment.',
    additionalProperties: false,
  },
);
export type ImportFeaturesBody = Static<typeof ImportFeaturesBody>;

function count(description: string) {
  return Type.Integer({ minimum: 0, description });
}

/** The numbers of imported and skipped objects. */
export const ImportReport = Type.Object(
  {
    created: count('features that are new'),
    updated: count('features that existed and were changed, or are proposed to change'),
    unchanged: count('features that were already identical'),
    strategies: count('strategies that were written or proposed'),
    tags: count('tags that were put on features'),
    tagTypes: count('tag types that are new'),
    contextFields: count('context fields that are new'),
    dependencies: count('dependencies that were written or proposed'),
    skipped: Type.Array(
      Type.Object({
        feature: Type.String({ description: 'the name of the feature' }),
        reason: Type.String({ description: 'the reason why it was skipped' }),
      }),
      { description: 'the skipped items, with the reasons' },
    ),
    changeRequest: Type.Optional(
      Type.Object(
        {
          id: Type.Optional(
            Type.Integer({
              description:
                'its id; absent if the change-requests service was unavailable: the request is created later',
            }),
          ),
          environment: Type.String({ description: 'the environment that it is for' }),
          changes: count('changes that it proposes'),
        },
        { description: 'the changes that need approval; a change request was created for them' },
      ),
    ),
  },
  { title: 'importReportSchema', description: 'The result of an import: the imported items and the skipped ones.' },
);
export type ImportReport = Static<typeof ImportReport>;

/** The features to export: by name, by tag or by project. */
export const ExportFeaturesBody = Type.Object(
  {
    environment: Type.String({ description: 'the environment to export from' }),
    features: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { maxItems: 100_000, description: 'the names of the features' }),
    ),
    tag: Type.Optional(Type.String({ description: 'the value of a tag that the features have' })),
    project: Type.Optional(Type.String({ description: 'the project of the features' })),
    downloadFile: Type.Optional(Type.Boolean({ description: 'ignored' })),
  },
  {
    title: 'exportQuerySchema',
    description: 'The features to export.',
    anyOf: [{ required: ['features'] }, { required: ['tag'] }, { required: ['project'] }],
  },
);
export type ExportFeaturesBody = Static<typeof ExportFeaturesBody>;

export const ImportValidation = Type.Object(
  {
    errors: Type.Array(Type.Object({ message: Type.String(), affectedItems: Type.Array(Type.String()) }), {
      description: 'the reasons why the import would be refused',
    }),
    warnings: Type.Array(Type.Object({ message: Type.String(), affectedItems: Type.Array(Type.String()) }), {
      description: 'the items that would be skipped',
    }),
    permissions: Type.Array(Type.Object({ message: Type.String(), affectedItems: Type.Array(Type.String()) }), {
      description: 'the permissions that the caller lacks',
    }),
  },
  { title: 'importTogglesValidateSchema', description: 'The reasons why an import would be refused.' },
);
export type ImportValidation = Static<typeof ImportValidation>;

/** Emits `features-exported`. */
export const ExportFeatures = defineOperation({
  subject: 'call.features.export-features',
  summary: 'Export features',
  description:
    'Returns features with their strategies in one environment, their tags, segments, context fields and dependencies, in the format of the import.',
  http: { method: 'POST', url: '/api/admin/features-batch/export', takesLong: true },
  isHeavy: true,
  permission: 'authenticated',
  body: ExportFeaturesBody,
  reply: ExportedFeatures,
});

/** Emits `features-imported` and the events of the changes. */
export const ImportFeatures = defineOperation({
  subject: 'call.features.import-features',
  operationId: 'importToggles',
  summary: 'Import features',
  description:
    'Imports an export of Unleash into a project and an environment, all or nothing: it is refused if a segment, a context field or a strategy type is missing. Repeating an import changes nothing.',
  http: { method: 'POST', url: '/api/admin/features-batch/import', largeBody: true },
  permission: 'CREATE_FEATURE',
  body: ImportFeaturesBody,
  reply: ImportReport,
  errors: ['ValidationError', 'PatternError', 'ExceedsLimitError', 'NotFoundError', 'InvalidOperationError'],
});

export const ValidateImport = defineOperation({
  subject: 'call.features.validate-import',
  summary: 'Validate an import',
  description: 'Validates an import. Nothing is stored.',
  http: { method: 'POST', url: '/api/admin/features-batch/validate', largeBody: true },
  isHeavy: true,
  permission: 'CREATE_FEATURE',
  readsOnly: true,
  body: ImportFeaturesBody,
  reply: ImportValidation,
  errors: ['ValidationError', 'NotFoundError'],
});
