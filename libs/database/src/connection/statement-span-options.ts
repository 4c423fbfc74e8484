import type { SpanOptions } from '@bunting/tracing';

/**
 * The span of a statement, by the semantic conventions of databases.
 * @param text of Bunting's own statements, which hold no values. The ORM writes values into the text of its statements, so only their first
 * word is exported.
 */
export const statementSpan = (database: string, name: string, text?: string) => (): SpanOptions => ({
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
