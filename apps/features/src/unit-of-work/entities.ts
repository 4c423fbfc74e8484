import {
  type Constraint,
  type EnvironmentColor,
  type FeatureFieldName,
  featureFieldNames,
  type FeatureFields,
  type FeatureLink,
  type FeatureTypeDescription,
  newFeatureMetadata,
  type StrategyProperties,
  type Tag,
  type UserReference,
} from '@bunting/contracts';
import { entitySql, TimestampColumn } from '@bunting/database/entities';
import { defineEntity, p } from '@mikro-orm/postgresql';
import type { StoredContextField } from '../context-fields/context-field.ts';
import type { Dependency, EnteredStage, FeatureInEnvironment } from '../features/feature.ts';
import type { FeatureNaming } from '../names.ts';
import type { StoredProject } from '../projects/project.ts';
import type { StoredStrategyType } from '../strategy-types/strategy-type.ts';

// Properties are named as in the domain and in JSON. Columns are the same in snake case. `hidden` properties are not part of the JSON.

function timestamp() {
  return p.type(TimestampColumn);
}

const emptyList = "'[]'";

/** The default name of a foreign key in PostgreSQL. */
function foreignKey(table: string, column: string): string {
  return `${table}_${column}_fkey`;
}

export const EnvironmentEntity = defineEntity({
  name: 'Environment',
  tableName: 'environment',
  properties: {
    name: p.text().primary(),
    type: p.text(),
    sortOrder: p.integer(),
    enabled: p.boolean().default(true),
    protected: p.boolean().default(false),
    requiredApprovals: p.integer().nullable(),
    color: p.text().$type<EnvironmentColor>().nullable(),
  },
  checks: [
    {
      name: 'environment_required_approvals_check',
      expression: 'required_approvals >= 1 and required_approvals <= 10',
    },
  ],
});

export const ProjectEntity = defineEntity({
  name: 'Project',
  tableName: 'project',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    description: p.text().nullable(),
    mode: p.text().$type<StoredProject['mode']>().default('open'),
    defaultStickiness: p.text().default('default'),
    featureLimit: p.integer().nullable(),
    featureNaming: p.json<FeatureNaming>().nullable(),
    createdBy: p.integer().nullable().hidden(),
    createdAt: timestamp().defaultRaw('now()').hidden(),
    updatedAt: timestamp().nullable().hidden(),
    archivedAt: timestamp().nullable().hidden(),
  },
  checks: [{ name: 'project_mode_check', expression: "mode in ('open', 'protected', 'private')" }],
});

/** The ids of deleted private projects. They are reserved, because their events are found by id. */
export const DeletedPrivateProjectEntity = defineEntity({
  name: 'DeletedPrivateProject',
  tableName: 'deleted_private_project',
  properties: { id: p.text().primary(), deletedAt: timestamp().defaultRaw('now()') },
});

function referenceToProject(table: string) {
  return p
    .manyToOne(ProjectEntity)
    .mapToPk()
    .joinColumn('project')
    .deleteRule('cascade')
    .updateRule('no action')
    .foreignKeyName(foreignKey(table, 'project'));
}

function referenceToEnvironment(table: string) {
  return p
    .manyToOne(EnvironmentEntity)
    .mapToPk()
    .joinColumn('environment')
    .deleteRule('cascade')
    .updateRule('no action')
    .foreignKeyName(foreignKey(table, 'environment'));
}

export const ProjectEnvironmentEntity = defineEntity({
  name: 'ProjectEnvironment',
  tableName: 'project_environment',
  properties: {
    project: referenceToProject('project_environment').primary(),
    environment: referenceToEnvironment('project_environment').primary(),
    defaultStrategy: p.json<StrategyProperties>().nullable(),
  },
});

export const ProjectFavoriteEntity = defineEntity({
  name: 'ProjectFavorite',
  tableName: 'project_favorite',
  properties: { project: referenceToProject('project_favorite').primary(), userId: p.integer().primary() },
});

export const SegmentEntity = defineEntity({
  name: 'Segment',
  tableName: 'segment',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    name: p.text(),
    description: p.text().nullable(),
    project: referenceToProject('segment').nullable(),
    constraints: p.json<readonly Constraint[]>(),
    createdBy: p.text(),
    createdAt: timestamp(),
    version: p.integer().default(1).hidden(),
  },
  uniques: [{ name: 'segment_name_is_unique', properties: ['name'] }],
});

export const TagTypeEntity = defineEntity({
  name: 'TagType',
  tableName: 'tag_type',
  properties: {
    name: p.text().primary(),
    description: p.text().nullable(),
    icon: p.text().nullable(),
    color: p.text().nullable(),
  },
});

export const TagEntity = defineEntity({
  name: 'Tag',
  tableName: 'tag',
  properties: {
    type: p
      .manyToOne(TagTypeEntity)
      .mapToPk()
      .joinColumn('type')
      .primary()
      .deleteRule('cascade')
      .updateRule('no action')
      .foreignKeyName(foreignKey('tag', 'type')),
    value: p.text().primary(),
  },
});

export const ContextFieldEntity = defineEntity({
  name: 'ContextField',
  tableName: 'context_field',
  properties: {
    name: p.text().primary(),
    description: p.text().nullable(),
    sortOrder: p.integer(),
    stickiness: p.boolean().default(false),
    legalValues: p.json<StoredContextField['legalValues']>().defaultRaw(emptyList),
    createdAt: timestamp().defaultRaw('now()').hidden(),
  },
});

export const StrategyTypeEntity = defineEntity({
  name: 'StrategyType',
  tableName: 'strategy_type',
  properties: {
    name: p.text().primary(),
    title: p.text().nullable(),
    description: p.text().nullable(),
    parameters: p.json<StoredStrategyType['parameters']>().defaultRaw(emptyList),
    builtIn: p.boolean().default(false),
    deprecated: p.boolean().default(false),
    sortOrder: p.integer().hidden(),
  },
});

export const FeatureTypeEntity = defineEntity({
  name: 'FeatureType',
  tableName: 'feature_type',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    description: p.text(),
    lifetimeDays: p.integer().nullable().$type<FeatureTypeDescription['lifetimeDays']>(),
  },
});

const UserReferenceEmbeddable = defineEntity({
  name: 'UserReference',
  embeddable: true,
  properties: { id: p.integer(), name: p.text(), imageUrl: p.text() },
});

type PlainField = Exclude<FeatureFieldName, 'type'>;
type ColumnOf<T> = T extends boolean
  ? ReturnType<typeof p.boolean>
  : null extends T
    ? ReturnType<ReturnType<typeof p.text>['nullable']>
    : ReturnType<typeof p.text>;

/** The columns of the fields of `featureFields` that refer to no other table. */
const featureFieldColumns = Object.fromEntries(
  Object.entries(newFeatureMetadata).flatMap(([name, initial]) => {
    if (name === 'type') return [];
    const column = typeof initial === 'boolean' ? p.boolean() : initial === null ? p.text().nullable() : p.text();
    return [[name, column]];
  }),
) as { readonly [K in PlainField]: ColumnOf<FeatureFields[K]> };

/**
 * A feature is one row, so that one row lock covers all of it. Parts of its JSON documents that are looked up (ids of strategies and
 * segments, names of context fields and parents) are repeated in columns of their own. `version` counts all writes; `editVersion` is the
 * version after the last edit.
 */
export const FeatureEntity = defineEntity({
  name: 'Feature',
  tableName: 'feature',
  properties: {
    name: p.text().primary(),
    project: p
      .manyToOne(ProjectEntity)
      .mapToPk()
      .joinColumn('project')
      .updateRule('no action')
      .foreignKeyName(foreignKey('feature', 'project')),
    type: p
      .manyToOne(FeatureTypeEntity)
      .mapToPk()
      .joinColumn('type')
      .updateRule('no action')
      .foreignKeyName(foreignKey('feature', 'type')),
    ...featureFieldColumns,
    createdAt: timestamp(),
    createdBy: p.embedded(UserReferenceEmbeddable).prefix('created_by_'),
    archivedAt: timestamp().nullable(),
    environments: p.json<Readonly<Record<string, FeatureInEnvironment>>>(),
    tags: p.json<readonly Tag[]>(),
    dependencies: p.json<readonly Dependency[]>(),
    lifecycle: p.json<readonly EnteredStage[]>(),
    links: p.json<readonly FeatureLink[]>().defaultRaw(emptyList),
    collaborators: p.json<readonly UserReference[]>(),
    strategyIds: p.array<string>().columnType('text[]').hidden(),
    segmentIds: p.array<number>().columnType('int[]').hidden(),
    contextNames: p.array<string>().columnType('text[]').hidden(),
    parents: p.array<string>().columnType('text[]').hidden(),
    productionAt: timestamp().nullable().hidden(),
    potentiallyStale: p.boolean().default(false).hidden(),
    version: p.integer().default(1).hidden(),
    editVersion: p.integer().default(0).hidden(),
  },
  indexes: [
    // Counts active and stale features by index-only scans.
    { name: 'feature_active', properties: ['project', 'name'], include: ['stale'], where: 'archived_at is null' },
    // The archive is listed newest first.
    {
      name: 'feature_archived',
      properties: ['archivedAt', 'name'],
      columns: [{ name: 'archived_at', sort: 'DESC' }, { name: 'name' }],
      where: 'archived_at is not null',
    },
    // Computes the metrics of a project by index-only scans.
    { name: 'feature_dates', properties: ['project'], include: ['createdAt', 'archivedAt', 'productionAt'] },
    { name: 'feature_by_strategy', properties: ['strategyIds'], type: 'gin', where: "strategy_ids <> '{}'" },
    { name: 'feature_by_segment', properties: ['segmentIds'], type: 'gin', where: "segment_ids <> '{}'" },
    { name: 'feature_by_context', properties: ['contextNames'], type: 'gin', where: "context_names <> '{}'" },
    // Each read of a feature looks up its children. The migration turns `fastupdate` off, because reads would scan the pending list.
    { name: 'feature_by_parent', properties: ['parents'], type: 'gin', where: "parents <> '{}'" },
    // Counts the features that use each segment by index-only scans.
    {
      name: 'feature_segment_use',
      properties: ['project'],
      include: ['segmentIds'],
      where: "segment_ids <> '{}' and archived_at is null",
    },
  ],
});

function referenceToFeature(table: string) {
  return p
    .manyToOne(FeatureEntity)
    .mapToPk()
    .joinColumn('feature')
    .deleteRule('cascade')
    .updateRule('no action')
    .foreignKeyName(foreignKey(table, 'feature'));
}

export const FeatureFavoriteEntity = defineEntity({
  name: 'FeatureFavorite',
  tableName: 'feature_favorite',
  properties: { feature: referenceToFeature('feature_favorite').primary(), userId: p.integer().primary() },
});

/** The result of the latest attempt to apply a change request. */
export const AppliedChangeRequestEntity = defineEntity({
  name: 'AppliedChangeRequest',
  tableName: 'applied_change_request',
  properties: {
    id: p.bigint('number').primary().autoincrement(false),
    uid: p.uuid().nullable(),
    attempt: p.integer(),
    content: p.text().nullable(),
    result: p.json<unknown>().columnType('json').nullable(),
  },
});

/** Changes of imports that require a change request, until they are submitted to the change requests service. */
export const ImportProposalEntity = defineEntity({
  name: 'ImportProposal',
  tableName: 'import_proposal',
  properties: {
    id: p.uuid().primary(),
    proposal: p.json<unknown>().columnType('json'),
    createdAt: timestamp().defaultRaw('clock_timestamp()'),
  },
});

export const entities = [
  EnvironmentEntity,
  ProjectEntity,
  DeletedPrivateProjectEntity,
  ProjectEnvironmentEntity,
  ProjectFavoriteEntity,
  SegmentEntity,
  TagTypeEntity,
  TagEntity,
  ContextFieldEntity,
  StrategyTypeEntity,
  FeatureTypeEntity,
  FeatureEntity,
  FeatureFavoriteEntity,
  AppliedChangeRequestEntity,
  ImportProposalEntity,
];

export const sql = entitySql(entities);

/** SQL: the name, the project and fields of the feature in a row, as arguments of `json_build_object`. */
export function describedMembers(row: string, fields: readonly FeatureFieldName[] = featureFieldNames): string {
  return sql.jsonPairsOf(FeatureEntity, row, ['name', 'project', ...fields]);
}

/** SQL: the feature in a row as the domain's `Feature`. */
export function featureJson(row: string): string {
  return sql.jsonOf(FeatureEntity, row, sql.jsonPairsOf(FeatureEntity, row, ['project', 'type']));
}

/** SQL: the segment in a row as the domain's `StoredSegment`. */
export function storedSegmentJson(row: string): string {
  const json = sql.jsonOf(SegmentEntity, row, sql.jsonPairsOf(SegmentEntity, row, ['project']));
  return `coalesce((
    select (${json}::jsonb || jsonb_build_object('list', ${segmentListJson('list')}))::json
    from segment_list list where list.segment = ${row}.id), ${json})`;
}

/** SQL: the list of a segment in a row of `segment_list` as clients receive it. */
export function segmentListJson(row: string): string {
  return `json_build_object('contextName', ${row}.context_name, 'size', ${row}.size, 'version', ${row}.version)`;
}
