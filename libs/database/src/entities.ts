import {
  type AnyEntity,
  ArrayType,
  type EntityManager,
  type EntityMetadata,
  type EntityName,
  type EntityProperty,
  type EntitySchema,
  MikroORM,
  type RequiredEntityData,
  Type,
} from '@mikro-orm/postgresql';
import type { Entity } from './database.ts';
import { ormOf } from './orm.ts';
import { migrationsTable } from './schema-version.ts';
import { timestampSql } from './sql.ts';

function columnOf({ fieldNames }: EntityProperty): string {
  return fieldNames[0] as string;
}

function valueSql(property: EntityProperty, row: string): string {
  const column = `${row}.${columnOf(property)}`;
  return property.columnTypes[0] === 'timestamptz' ? timestampSql(column) : column;
}

/** SQL for an embedded object. A nullable one is null where its first column is. */
function embeddedSql({ name, nullable }: EntityProperty, { props }: EntityMetadata, row: string): string {
  const members = props.filter(({ embedded }) => embedded?.[0] === name);
  const built = `json_build_object(${members.map((member) => `'${member.embedded?.[1]}', ${valueSql(member, row)}`).join(', ')})`;
  return nullable === true
    ? `case when ${valueSql(members[0] as EntityProperty, row)} is not null then ${built} end`
    : built;
}

function valueOf(values: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null)?.[name], values) ?? null;
}

/** Builds parts of SQL statements from the metadata of entities, which are resolved without a database. */
export function entitySql(entities: readonly Entity[]) {
  const metadata = ormOf(entities).getMetadata();
  const metaOf = (entity: Entity): EntityMetadata => metadata.get(entity as EntityName<AnyEntity>);
  const columnProperties = new Map<Entity, readonly EntityProperty[]>();
  const columnPropertiesOf = (entity: Entity): readonly EntityProperty[] => {
    const cached = columnProperties.get(entity) ?? metaOf(entity).props.filter(({ kind }) => kind !== 'embedded');
    columnProperties.set(entity, cached);
    return cached;
  };
  const propertyOf = (entity: Entity, name: string): EntityProperty => {
    const property = columnPropertiesOf(entity).find((candidate) => candidate.name === name);
    if (property === undefined) throw new Error(`The entity ${metaOf(entity).className} has no column for ${name}.`);
    return property;
  };
  return {
    /** The columns of an entity's table, including those of embedded objects; or the columns of the given properties, in their order. */
    columnsOf: (entity: Entity, properties?: readonly string[]): readonly string[] =>
      (properties?.map((name) => propertyOf(entity, name)) ?? columnPropertiesOf(entity)).map(columnOf),
    /** The SQL types of an entity's columns, by column. */
    columnTypesOf: (entity: Entity): ReadonlyMap<string, string> =>
      new Map(columnPropertiesOf(entity).map((property) => [columnOf(property), property.columnTypes[0] as string])),
    /** SQL: properties of a row as arguments of `json_build_object`, timestamps as RFC 3339 text. */
    jsonPairsOf: (entity: Entity, row: string, properties: readonly string[]): string =>
      properties.map((name) => `'${name}', ${valueSql(propertyOf(entity, name), row)}`).join(', '),
    /** SQL: a select list of a row, named by the entity's properties; without `hidden` ones, timestamps as RFC 3339 text. */
    selectOf: (entity: Entity, row: string): string =>
      columnPropertiesOf(entity)
        .filter(({ hidden }) => !hidden)
        .map((property) => `${valueSql(property, row)} as "${property.name}"`)
        .join(', '),
    /** The values of a row by column, for `json_populate_recordset`. */
    rowOf: (entity: Entity, values: object): Readonly<Record<string, unknown>> =>
      Object.fromEntries(
        columnPropertiesOf(entity).map((property) => [
          columnOf(property),
          valueOf(values, property.embedded ?? [property.name]),
        ]),
      ),
    /**
     * SQL: `json_build_object` of a row: the entity's properties without relations and `hidden` ones, embedded objects nested, timestamps
     * as RFC 3339 text. `more` are further arguments of `json_build_object`.
     */
    jsonOf: (entity: Entity, row: string, more?: string): string => {
      const meta = metaOf(entity);
      const members = meta.props
        .filter(({ kind, embedded, hidden }) => (kind === 'scalar' || kind === 'embedded') && !embedded && !hidden)
        .map((property) => {
          const value = property.kind === 'embedded' ? embeddedSql(property, meta, row) : valueSql(property, row);
          return `'${property.name}', ${value}`;
        });
      return `json_build_object(${[...members, more ?? []].flat().join(', ')})`;
    },
  };
}

/** A `timestamptz` column whose value is RFC 3339 text in the application. */
export class TimestampColumn extends Type<string | null> {
  override getColumnType(): string {
    return 'timestamptz';
  }
  override compareAsType(): string {
    return 'string';
  }
  override convertToJSValue(value: string | null): string | null {
    return value === null ? null : new Date(value).toISOString();
  }
}

/**
 * A `text[]` column for any texts. MikroORM's own array type leaves some texts unquoted: it stores 'null' as NULL, breaks on a blank, and
 * turns line breaks into the letter n.
 */
export class TextArray extends ArrayType {
  override getColumnType(): string {
    return 'text[]';
  }
  override convertToDatabaseValue(values: string[] | null): string | null {
    const quoted = values?.map((value) => `"${value.replace(/["\\]/g, String.raw`\$&`)}"`);
    return quoted === undefined ? null : `{${quoted.join(',')}}`;
  }
}

/**
 * Stores the difference of two lists at the next flush: rows that are new, changed or removed. Each item is one row. `before` must have
 * been read under a lock in the same transaction. Items that are the same object in both lists are skipped.
 */
export function persistDifference<T extends object, Item>(
  em: EntityManager,
  entity: EntityName<T>,
  { before, after }: { readonly before: readonly Item[]; readonly after: readonly Item[] },
  rowOf: (item: Item) => RequiredEntityData<T>,
): void {
  const { primaryKeys } = em.getMetadata(entity);
  const keyOf = (row: object): string => JSON.stringify(primaryKeys.map((name) => row[name as keyof typeof row]));
  const itemsBefore = new Set(before);
  const keptItems = new Set(after.filter((item) => itemsBefore.has(item)));
  const storedRows = new Map(
    before
      .filter((item) => !keptItems.has(item))
      .map(rowOf)
      .map((row) => [keyOf(row), em.merge(entity, row as never)]),
  );
  for (const item of after) {
    if (keptItems.has(item)) continue;
    const row = rowOf(item);
    const storedRow = storedRows.get(keyOf(row));
    if (storedRow === undefined) em.create(entity, row);
    else em.assign(storedRow, row as never);
    storedRows.delete(keyOf(row));
  }
  for (const removedRow of storedRows.values()) em.remove(removedRow);
}

/** Tables of libraries, which have tests of their own: applied migrations, outbox, checkpoints of consumers and stored replies. */
const libraryTables = [
  migrationsTable,
  /^outbox/,
  'consumer_checkpoint',
  'dead_letter',
  'missed_message',
  'idempotent_reply',
];

/**
 * The statements that the next migration needs to bring a database to the schema of the entities; none where they agree. `otherTables`
 * names tables without an entity; the statements drop any other table without one. Views, triggers and functions are not compared.
 */
export async function missingMigrationStatements(
  url: string,
  entities: readonly Entity[],
  otherTables: readonly (string | RegExp)[] = [],
): Promise<readonly string[]> {
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [...entities] as EntitySchema[],
    ensureDatabase: false,
    schemaGenerator: {
      skipTables: [...libraryTables, ...otherTables],
      skipViews: [/./],
      ignoreTriggers: true,
      ignoreRoutines: true,
    },
  });
  try {
    const sql = await orm.schema.getUpdateSchemaSQL({ wrap: false });
    return sql.split('\n').filter((line) => line !== '');
  } finally {
    await orm.close(true);
  }
}
