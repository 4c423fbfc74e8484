import { ArrayType, Type } from '@mikro-orm/postgresql';

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

/** SQL: a `timestamptz` as RFC 3339 text with milliseconds. */
export const timestampSql = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

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
