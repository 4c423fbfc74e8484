import type { SchemaMigration } from '@bunting/database';
import {
  parse,
  type AlterTableCmd,
  type AlterTableStmt,
  type ColumnDef,
  type Constraint,
  type IndexStmt,
  type Node,
} from 'libpg-query';

/**
 * What a migration must not do to a table that exists, because the previous version still runs on it, or because it would lock the table
 * for as long as it takes to read it.
 */
export const migrationRules = {
  drop: 'the previous version still uses what is dropped: stop using it in one release, and drop it in a later one',
  rename:
    'the previous version uses the old name: add the new one, write to both, and drop the old one in a later release',
  'type-change':
    'it rewrites the table under an exclusive lock: add a column, backfill it in batches, and drop the old one in a later release',
  'not-null':
    'rows of the previous version lack the value: give the column a default; one release later a contraction may add a CHECK (… IS NOT NULL) NOT VALID, and a later migration validate it',
  'blocking-index':
    'it blocks writes while it is built: create the index concurrently, in a migration of its own with `concurrently: true`',
  'unsafe-concurrent-index':
    'an index is created concurrently in a migration with `concurrently: true`, as DROP INDEX CONCURRENTLY IF EXISTS followed by CREATE INDEX CONCURRENTLY, so that the next start repairs one that was interrupted',
  'validated-constraint':
    'every row is checked under a lock: add the constraint NOT VALID and validate it in a later migration; add UNIQUE or PRIMARY KEY USING INDEX',
  'new-constraint':
    'it is enforced for new rows immediately, NOT VALID or not, and the previous version may write rows that it refuses: in an expansion move the code, and add the constraint or unique index in a contraction one release later',
  'table-rewrite':
    'it rewrites the table under an exclusive lock: add the column without it, and backfill it in batches',
  'data-rewrite': 'it locks every row in one transaction: backfill in batches from the service',
  phase:
    'its name says whether versions that do not know it run on its schema: `<number>-expand-…` if they do, else `<number>-contract-…`; an expansion drops, renames and retypes nothing',
  'hidden-statement': 'the linter cannot read what it executes: use plain statements',
} as const;
export type MigrationRule = keyof typeof migrationRules;

/** The migrations that create the first tables of a database: no older version can run on it. */
const initialMigrations = /^(1-.*|2-search)$/;
const contractingRules: readonly MigrationRule[] = ['drop', 'rename', 'type-change'];

/** One statement that breaks a rule. */
interface MigrationFault {
  readonly migration: string;
  readonly rule: MigrationRule;
  readonly statement: string;
}

/** Minimum length of the reason in `-- allow drop: the reason`. */
const minReasonLength = 15;
function isAllowed(sql: string, rule: MigrationRule): boolean {
  return [...sql.matchAll(/--\s*allow\s+([a-z-]+):\s*(.+)$/gm)].some(
    ([, name, reason = '']) => name === rule && reason.trim().length >= minReasonLength,
  );
}

/** Functions whose value is the same for all rows of a statement, so that PostgreSQL stores a default of them without a rewrite. */
const stableFunctions = new Set(['now', 'transaction_timestamp', 'statement_timestamp', 'current_setting']);

function namesOf(node: Node | undefined): string[] {
  if (node === undefined) return [];
  if ('String' in node) return [node.String.sval ?? ''];
  if ('List' in node) return (node.List.items ?? []).flatMap(namesOf);
  if ('TypeName' in node) return (node.TypeName.names ?? []).flatMap(namesOf);
  if ('ObjectWithArgs' in node) return (node.ObjectWithArgs.objname ?? []).flatMap(namesOf);
  return [];
}
function lastNameOf(node: Node | undefined): string {
  return namesOf(node).at(-1) ?? '';
}

/** The values of a key anywhere in a parse tree, e.g. the tables that a statement reads. */
function descendants(tree: unknown, key: string): unknown[] {
  if (Array.isArray(tree)) return tree.flatMap((part) => descendants(part, key));
  if (typeof tree !== 'object' || tree === null) return [];
  return Object.entries(tree).flatMap(([name, part]) => [
    ...(name === key ? [part as unknown] : []),
    ...descendants(part, key),
  ]);
}

function tablesReadBy(tree: unknown): string[] {
  return descendants(tree, 'RangeVar').map((table) => (table as { relname?: string }).relname ?? '');
}

function callsVolatileFunction(tree: unknown): boolean {
  return descendants(tree, 'FuncCall').some(
    (call) => !stableFunctions.has(lastNameOf((call as { funcname?: Node[] }).funcname?.at(-1))),
  );
}

function constraintsOf({ constraints = [] }: ColumnDef): Constraint[] {
  return constraints.flatMap((node) => ('Constraint' in node ? [node.Constraint] : []));
}

function faultsOfColumn(column: ColumnDef): MigrationRule[] {
  const constraints = constraintsOf(column);
  const has = (type: Constraint['contype']): boolean => constraints.some(({ contype }) => contype === type);
  const defaults = constraints.filter(({ contype }) => contype === 'CONSTR_DEFAULT');
  const isSerial = /serial/.test((column.typeName?.names ?? []).flatMap(namesOf).join(' '));
  const isComputed = has('CONSTR_GENERATED') || has('CONSTR_IDENTITY') || isSerial;
  const isValidated = (['CONSTR_CHECK', 'CONSTR_FOREIGN', 'CONSTR_UNIQUE', 'CONSTR_PRIMARY'] as const).some(has);
  return [
    ...(has('CONSTR_NOTNULL') && defaults.length === 0 && !isComputed ? (['not-null'] as const) : []),
    ...(isComputed || callsVolatileFunction(defaults) ? (['table-rewrite'] as const) : []),
    ...(isValidated ? (['validated-constraint'] as const) : []),
  ];
}

function faultsOfConstraint({ contype, skip_validation, indexname }: Constraint): MigrationRule[] {
  return skip_validation === true || (indexname !== undefined && contype !== 'CONSTR_FOREIGN')
    ? []
    : ['validated-constraint'];
}

function columnOf({ def }: AlterTableCmd): ColumnDef {
  return def !== undefined && 'ColumnDef' in def ? def.ColumnDef : {};
}
function constraintOf({ def }: AlterTableCmd): Constraint {
  return def !== undefined && 'Constraint' in def ? def.Constraint : {};
}

/** What the earlier statements of the same migration have created, and the indexes that they dropped. */
interface EarlierStatements {
  readonly tables: Set<string>;
  readonly constraints: Set<string>;
  readonly droppedIndexes: Set<string>;
}

function faultsOfAlteration(command: AlterTableCmd, { constraints }: EarlierStatements): MigrationRule[] {
  switch (command.subtype) {
    case 'AT_DropColumn':
    case 'AT_DropConstraint':
    case 'AT_DropInherit':
    case 'AT_DetachPartition':
      return ['drop'];
    case 'AT_ColumnDefault':
      return command.def === undefined ? ['drop'] : [];
    case 'AT_AlterColumnType':
      return ['type-change'];
    case 'AT_SetNotNull':
      return ['not-null', 'new-constraint'];
    case 'AT_AddColumn':
      return faultsOfColumn(columnOf(command));
    case 'AT_AddConstraint':
      constraints.add(constraintOf(command).conname ?? '');
      return [...faultsOfConstraint(constraintOf(command)), 'new-constraint'];
    // A constraint that the same transaction added holds its lock until all rows are checked.
    case 'AT_ValidateConstraint':
      return constraints.has(command.name ?? '') ? ['validated-constraint'] : [];
    case 'AT_SetLogged':
    case 'AT_SetUnLogged':
    case 'AT_SetTableSpace':
    case 'AT_SetAccessMethod':
    case 'AT_SetExpression':
    case 'AT_AddIdentity':
      return ['table-rewrite'];
    default:
      return [];
  }
}

function faultsOfTable(statement: AlterTableStmt, earlier: EarlierStatements): MigrationRule[] {
  return statement.relation !== undefined && earlier.tables.has(statement.relation.relname ?? '')
    ? []
    : (statement.cmds ?? []).flatMap((node) =>
        'AlterTableCmd' in node ? faultsOfAlteration(node.AlterTableCmd, earlier) : [],
      );
}

function faultsOfIndex(
  { idxname = '', relation, concurrent = false, unique = false }: IndexStmt,
  { tables, droppedIndexes }: EarlierStatements,
  isConcurrentMigration: boolean,
): MigrationRule[] {
  const isOfNewTable = tables.has(relation?.relname ?? '');
  const constrains: MigrationRule[] = unique && !isOfNewTable ? ['new-constraint'] : [];
  if (!concurrent) return isOfNewTable ? [] : ['blocking-index', ...constrains];
  const isRepaired = isConcurrentMigration && droppedIndexes.has(idxname);
  return isRepaired ? constrains : ['unsafe-concurrent-index', ...constrains];
}

function faultsOfStatement(node: Node, earlier: EarlierStatements, isConcurrentMigration: boolean): MigrationRule[] {
  const exists = (table: string | undefined): boolean => table !== undefined && !earlier.tables.has(table);
  if ('CreateStmt' in node) earlier.tables.add(node.CreateStmt.relation?.relname ?? '');
  else if ('CreateTableAsStmt' in node) {
    earlier.tables.add(node.CreateTableAsStmt.into?.rel?.relname ?? '');
    return tablesReadBy(node.CreateTableAsStmt.query).some(exists) ? ['data-rewrite'] : [];
  } else if ('IndexStmt' in node) {
    return faultsOfIndex(node.IndexStmt, earlier, isConcurrentMigration);
  } else if ('DropStmt' in node) {
    const { objects = [], removeType, concurrent, missing_ok } = node.DropStmt;
    if (removeType === 'OBJECT_INDEX' && concurrent === true && missing_ok === true && isConcurrentMigration) {
      for (const name of objects.map(lastNameOf)) earlier.droppedIndexes.add(name);
      return [];
    }
    return removeType === 'OBJECT_TABLE' && !objects.map(lastNameOf).some(exists) ? [] : ['drop'];
  } else if ('TruncateStmt' in node || 'DropOwnedStmt' in node) return ['drop'];
  else if ('RenameStmt' in node) return exists(node.RenameStmt.relation?.relname ?? '') ? ['rename'] : [];
  else if ('AlterObjectSchemaStmt' in node) return ['rename'];
  else if ('AlterTableStmt' in node) return faultsOfTable(node.AlterTableStmt, earlier);
  else if ('UpdateStmt' in node) return exists(node.UpdateStmt.relation?.relname) ? ['data-rewrite'] : [];
  else if ('DeleteStmt' in node) return exists(node.DeleteStmt.relation?.relname) ? ['data-rewrite'] : [];
  else if ('MergeStmt' in node) return exists(node.MergeStmt.relation?.relname) ? ['data-rewrite'] : [];
  else if ('InsertStmt' in node) {
    return tablesReadBy(node.InsertStmt.selectStmt).some(exists) ? ['data-rewrite'] : [];
  } else if ('ClusterStmt' in node || 'VacuumStmt' in node || 'ReindexStmt' in node) return ['table-rewrite'];
  else if ('DoStmt' in node || 'CallStmt' in node || 'SelectStmt' in node) return ['hidden-statement'];
  return [];
}

/**
 * The statements of a service's migrations that break a rule and have no `-- allow <rule>: <reason>` in their text. Statements are read by
 * PostgreSQL's own parser. The tables that a migration creates itself are exempt.
 */
export async function migrationFaults(migrations: readonly SchemaMigration[]): Promise<MigrationFault[]> {
  const faults: MigrationFault[] = [];
  for (const { name, statements, concurrently = false } of migrations) {
    const earlier: EarlierStatements = { tables: new Set(), constraints: new Set(), droppedIndexes: new Set() };
    for (const sql of statements) {
      const { stmts = [] } = await parse(sql);
      const brokenRules = stmts.flatMap(({ stmt }) =>
        stmt === undefined ? [] : faultsOfStatement(stmt, earlier, concurrently),
      );
      const statement = sql.trim().replaceAll(/\s+/g, ' ').slice(0, 100);
      for (const rule of new Set(brokenRules)) {
        if (rule === 'new-constraint' && !/^\d+-expand-/.test(name)) continue;
        if (!isAllowed(sql, rule)) faults.push({ migration: name, rule, statement });
        else if (contractingRules.includes(rule) && !/^\d+-contract-/.test(name))
          faults.push({ migration: name, rule: 'phase', statement });
      }
    }
    if (!initialMigrations.test(name) && !/^\d+-(expand|contract)-/.test(name))
      faults.push({ migration: name, rule: 'phase', statement: statements[0] ?? '' });
  }
  return faults;
}
