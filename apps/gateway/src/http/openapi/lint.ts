import { parseArgs } from 'node:util';
import { httpOperations } from '@bunting/contracts';
import type { AnySchema } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Json, type OpenApiDocument, openApiDocument } from './openapi-document.ts';

function hasMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function referencesIn(value: unknown): string[] {
  if (!hasMembers(value)) return [];
  const ownReferences = typeof value['$ref'] === 'string' ? [value['$ref']] : [];
  return [...ownReferences, ...Object.values(value).flatMap(referencesIn)];
}

function resolves(document: OpenApiDocument, reference: string): boolean {
  if (!reference.startsWith('#/')) return false;
  let node: unknown = document;
  for (const part of reference.slice(2).split('/')) {
    if (!hasMembers(node)) return false;
    node = node[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return node !== undefined;
}

interface DocumentedOperation {
  readonly where: string;
  readonly path: string;
  readonly operation: {
    readonly operationId?: string;
    /** empty where no key is needed */
    readonly security?: readonly unknown[];
    readonly tags?: readonly string[];
    readonly parameters?: readonly {
      readonly name: string;
      readonly in: string;
      readonly required?: boolean;
      readonly schema?: Json;
    }[];
    readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Json }>> };
    readonly responses?: Readonly<
      Record<
        string,
        {
          readonly $ref?: string;
          readonly description?: string;
          readonly content?: Readonly<Record<string, { readonly schema?: Json }>>;
        }
      >
    >;
  };
}

function operationsIn(document: OpenApiDocument): DocumentedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      where: `${method.toUpperCase()} ${path}`,
      path,
      operation: operation as DocumentedOperation['operation'],
    })),
  );
}

function faultsOfShape({ where, path, operation }: DocumentedOperation): string[] {
  const faults: string[] = [];
  if (!operation.operationId) faults.push(`${where} has no operationId.`);
  if ((operation.tags ?? []).length === 0) faults.push(`${where} has no tag.`);
  const namesInPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
  for (const name of namesInPath) {
    if (!declared.some((parameter) => parameter.name === name && parameter.required === true)) {
      faults.push(`${where} does not declare its path parameter ${name} as required.`);
    }
  }
  for (const { name } of declared)
    if (!namesInPath.includes(name)) faults.push(`${where} declares ${name}, which its path does not have.`);
  for (const { name, in: part, schema } of operation.parameters ?? []) {
    const isBounded = hasMembers(schema) && ['pattern', 'enum', 'maxLength'].some((keyword) => keyword in schema);
    if (part === 'header' && !isBounded) faults.push(`${where} does not say what its header ${name} looks like.`);
  }
  const statuses = Object.keys(operation.responses ?? {});
  if (!statuses.includes('400')) faults.push(`${where} does not say what a malformed header leads to.`);
  if (!statuses.some((status) => status.startsWith('2'))) faults.push(`${where} has no response for success.`);
  if (operation.security === undefined && !statuses.includes('401'))
    faults.push(`${where} does not say what a missing key leads to.`);
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    if (!response.description && !response.$ref) faults.push(`${where} does not describe its response ${status}.`);
  }
  return faults;
}

function schemasOf({ where, operation }: DocumentedOperation): [string, Json | undefined][] {
  return [
    ...(operation.parameters ?? []).map(({ name, schema }): [string, Json | undefined] => [
      `${where}, parameter ${name}`,
      schema,
    ]),
    ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }): [string, Json | undefined] => [
      `${where}, body`,
      schema,
    ]),
    ...Object.entries(operation.responses ?? {}).flatMap(([status, { content }]) =>
      Object.values(content ?? {}).map(({ schema }): [string, Json | undefined] => [
        `${where}, response ${status}`,
        schema,
      ]),
    ),
  ];
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** The patterns in a schema that are not regular expressions. */
function brokenPatternsIn(value: unknown): string[] {
  if (!hasMembers(value)) return [];
  const { pattern } = value;
  return [
    ...(typeof pattern === 'string' && !isPattern(pattern) ? [pattern] : []),
    ...Object.values(value).flatMap(brokenPatternsIn),
  ];
}

/** Faults of the schemas by JSON Schema 2020-12; unresolved references are reported apart. */
function faultsOfSchemas(document: OpenApiDocument, documented: readonly DocumentedOperation[]): string[] {
  const ajv = new Ajv2020({ strict: false, logger: false });
  const componentSchemas = Object.entries(document.components.schemas).map(
    ([name, schema]): [string, Json | undefined] => [`components/schemas/${name}`, schema as Json],
  );
  return [...componentSchemas, ...documented.flatMap(schemasOf)].flatMap(([where, schema]) => {
    if (schema === undefined) return [`${where} has no schema.`];
    const isValid = ajv.validateSchema(schema as AnySchema) === true;
    return [
      ...(isValid ? [] : [`${where} is no JSON Schema: ${ajv.errorsText(ajv.errors)}.`]),
      ...brokenPatternsIn(schema).map((pattern) => `${where} has a pattern that is no regular expression: ${pattern}`),
    ];
  });
}

function duplicatesIn(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

/** Faults that would break client generators or mislead readers; empty when the document is sound. */
export function faultsOfOpenApiDocument(document: OpenApiDocument): string[] {
  const documented = operationsIn(document);
  const ids = documented.flatMap(({ operation }) => operation.operationId ?? []);
  return [
    ...[...new Set(referencesIn(document))]
      .filter((reference) => !resolves(document, reference))
      .map((reference) => `${reference} does not resolve.`),
    ...duplicatesIn(ids).map((id) => `The operationId ${id} is not unique.`),
    ...documented.flatMap(faultsOfShape),
    ...faultsOfSchemas(document, documented),
  ];
}

const help = `Lints the OpenAPI document that the gateway serves, and prints each fault. It takes no options.

  npm run openapi:check`;

function lint(): void {
  const document = openApiDocument(httpOperations);
  const faults = faultsOfOpenApiDocument(document);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) {
    process.exitCode = 1;
    return;
  }
  const count = Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length;
  console.log(
    `The OpenAPI document is sound: ${count} operations, ${Object.keys(document.components.schemas).length} schemas.`,
  );
}

// The specs import this file; only as a command it lints.
if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { help: { type: 'boolean', default: false } } });
  if (values.help) console.log(help);
  else lint();
}
