import type { SpanOptions } from '@bunting/tracing';

/**
 * The options of a statement's span, by the semantic conventions of OpenTelemetry for databases.
 * @param text the text of one of Bunting's own statements, which hold no values. It is left out for statements of the ORM, which writes
 * values into them.
 */
export const statementSpanOptions = (database: string, name: string, text?: string) => (): SpanOptions => ({
  name,
  kind: 'client',
  attributes: {
    'db.system.name': 'postgresql',
    'db.namespace': database,
    'db.query.summary': name,
    ...(text === undefined ? {} : { 'db.query.text': text }),
  },
});

/** The first word of a statement, e.g. `SELECT`. */
export const operationOf = (text: string): string => (/^\s*(\w+)/.exec(text)?.[1] ?? 'statement').toUpperCase();
