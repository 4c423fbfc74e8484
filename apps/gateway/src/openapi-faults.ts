import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, OpenApiDocument } from './openapi.ts';

const hasMembers = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Every reference in the document, wherever it stands. */
const referencesIn = (value: unknown): string[] => {
  if (!hasMembers(value)) return [];
  const own = typeof value['$ref'] === 'string' ? [value['$ref']] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
};

const resolves = (document: OpenApiDocument, reference: string): boolean => {
  if (!reference.startsWith('#/')) return false;
  let at: unknown = document;
  for (const part of reference.slice(2).split('/')) {
    if (!hasMembers(at)) return false;
    at = at[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return at !== undefined;
};

const escaped = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

interface Written {
  readonly where: string;
  readonly pointer: string;
  readonly path: string;
  readonly operation: {
    readonly operationId?: string;
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

const operationsIn = (document: OpenApiDocument): Written[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      where: `${method.toUpperCase()} ${path}`,
      pointer: `/paths/${escaped(path)}/${method}`,
      path,
      operation: operation as Written['operation'],
    })),
  );

const faultsOfShape = ({ where, path, operation }: Written): string[] => {
  const faults: string[] = [];
  if (!operation.operationId) faults.push(`${where} has no operationId.`);
  if ((operation.tags ?? []).length === 0) faults.push(`${where} has no tag.`);
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
  for (const name of named) {
    if (!declared.some((parameter) => parameter.name === name && parameter.required === true)) {
      faults.push(`${where} does not declare its path parameter ${name} as required.`);
    }
  }
  for (const { name } of declared)
    if (!named.includes(name)) faults.push(`${where} declares ${name}, which its path does not have.`);
  const statuses = Object.keys(operation.responses ?? {});
  if (!statuses.some((status) => status.startsWith('2'))) faults.push(`${where} has no answer for success.`);
  if (!statuses.includes('401')) faults.push(`${where} does not say what a missing key leads to.`);
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    if (!response.description && !response.$ref) faults.push(`${where} does not describe its answer ${status}.`);
  }
  return faults;
};

/** Where the schemas of an operation stand, as JSON pointers. */
const schemasOf = ({ where, pointer, operation }: Written): [string, string][] => [
  ...(operation.parameters ?? []).map(({ name }, at): [string, string] => [
    `${where}, parameter ${name}`,
    `${pointer}/parameters/${at}/schema`,
  ]),
  ...Object.keys(operation.requestBody?.content ?? {}).map((type): [string, string] => [
    `${where}, body`,
    `${pointer}/requestBody/content/${escaped(type)}/schema`,
  ]),
  ...Object.entries(operation.responses ?? {}).flatMap(([status, { content }]) =>
    Object.keys(content ?? {}).map((type): [string, string] => [
      `${where}, answer ${status}`,
      `${pointer}/responses/${status}/content/${escaped(type)}/schema`,
    ]),
  ),
];

/** Compiles every schema as JSON Schema 2020-12, with the schemas that it refers to. */
const faultsOfSchemas = (document: OpenApiDocument, written: readonly Written[]): string[] => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document, $id: 'openapi' });
  const named = Object.keys(document.components.schemas).map((name): [string, string] => [
    `components/schemas/${name}`,
    `/components/schemas/${escaped(name)}`,
  ]);
  return [...named, ...written.flatMap(schemasOf)].flatMap(([where, pointer]) => {
    try {
      ajv.compile({ $ref: `openapi#${pointer}` });
      return [];
    } catch (error) {
      return [`${where} is no JSON Schema: ${(error as Error).message}.`];
    }
  });
};

const repeated = (values: readonly string[]): string[] => values.filter((value, at) => values.indexOf(value) !== at);

/** All that keeps the document from being one that clients can be generated from; empty when it is sound. */
export const faultsIn = (document: OpenApiDocument): string[] => {
  const written = operationsIn(document);
  const ids = written.flatMap(({ operation }) => operation.operationId ?? []);
  return [
    ...[...new Set(referencesIn(document))]
      .filter((reference) => !resolves(document, reference))
      .map((reference) => `${reference} leads nowhere.`),
    ...repeated(ids).map((id) => `The operationId ${id} is given twice.`),
    ...written.flatMap(faultsOfShape),
    ...faultsOfSchemas(document, written),
  ];
};
