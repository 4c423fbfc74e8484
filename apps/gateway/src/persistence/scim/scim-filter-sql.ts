import type { Filter } from 'scim2-parse-filter';
import { InvalidFilter, parseScimFilter } from '../../domain/scim/parse-scim-filter.ts';

/** How an attribute of a resource is compared in SQL. */
export interface FilterAttribute {
  /** SQL of the value */
  readonly sql: string;
  readonly type: 'text' | 'exact text' | 'boolean';
  /** SQL of a comparison for equality that can use an index, where the ordinary one cannot */
  readonly equals?: (parameter: string) => string;
}

/** The attributes that a filter may name, by their names in lower case. */
export type FilterAttributes = Readonly<Record<string, FilterAttribute>>;

export interface SqlCondition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const maxFilterLength = 1_000;
const schemaPrefix = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i;

const booleanOf = (value: unknown): boolean => {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw new InvalidFilter('A filter compares a boolean with true or false.');
  return text === 'true';
};

/**
 * A filter (RFC 7644, 3.4.2.2) as a condition in SQL. Text is compared without regard to case, except for ids.
 * @throws InvalidFilter
 */
export const scimFilterSql = (text: string, attributes: FilterAttributes): SqlCondition => {
  if (text.length > maxFilterLength) throw new InvalidFilter(`A filter has at most ${maxFilterLength} characters.`);
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;

  const compare = ({ sql, type, equals }: FilterAttribute, op: string, operand: unknown): string => {
    if (type === 'boolean') {
      if (op === 'pr') return `${sql} is not null`;
      if (op !== 'eq' && op !== 'ne') throw new InvalidFilter(`A boolean cannot be compared with ${op}.`);
      return `${sql} ${op === 'eq' ? '=' : '<>'} ${parameter(booleanOf(operand))}::boolean`;
    }
    if (op === 'pr') return `coalesce(${sql}, '') <> ''`;
    if (operand === null) return `${sql} is ${op === 'eq' ? '' : 'not '}null`;
    const value = `${parameter(String(operand))}::text`;
    if (op === 'eq' && equals !== undefined) return equals(value);
    const [left, right] = type === 'text' ? [`lower(${sql})`, `lower(${value})`] : [sql, value];
    switch (op) {
      case 'eq':
        return `${left} = ${right}`;
      case 'ne':
        return `${left} is distinct from ${right}`;
      case 'co':
        return `position(${right} in ${left}) > 0`;
      case 'sw':
        return `starts_with(${left}, ${right})`;
      case 'ew':
        return `right(${left}, length(${right})) = ${right}`;
      case 'gt':
        return `${left} > ${right}`;
      case 'ge':
        return `${left} >= ${right}`;
      case 'lt':
        return `${left} < ${right}`;
      case 'le':
        return `${left} <= ${right}`;
      default:
        throw new InvalidFilter(`A filter cannot compare with ${op}.`);
    }
  };

  const findAttribute = (path: string, pathPrefix: string): FilterAttribute => {
    const name = `${pathPrefix}${path.replace(schemaPrefix, '')}`.toLowerCase();
    const attribute = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    if (attribute === undefined) throw new InvalidFilter(`A filter cannot name the attribute ${path.slice(0, 100)}.`);
    return attribute;
  };

  const conditionOf = (filter: Filter, pathPrefix: string): string => {
    // The parser accepts the names of members of Object.prototype, such as `constructor`, as operators between conditions.
    if (!('attrPath' in filter || ['and', 'or', 'not'].includes(filter.op)))
      throw new InvalidFilter('The filter cannot be understood.');
    switch (filter.op) {
      case 'and':
      case 'or':
        return `(${filter.filters.map((operandFilter) => conditionOf(operandFilter, pathPrefix)).join(` ${filter.op} `)})`;
      case 'not':
        return `(not coalesce(${conditionOf(filter.filter, pathPrefix)}, false))`;
      case '[]':
        return conditionOf(filter.valFilter, `${pathPrefix}${filter.attrPath.replace(schemaPrefix, '')}.`);
      case 'pr':
        return `(${compare(findAttribute(filter.attrPath, pathPrefix), 'pr', undefined)})`;
      default:
        return `(${compare(findAttribute(filter.attrPath, pathPrefix), filter.op, filter.compValue)})`;
    }
  };

  return { sql: conditionOf(parseScimFilter(text), ''), values };
};
