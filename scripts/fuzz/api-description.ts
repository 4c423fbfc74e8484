import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** A JSON Schema, as far as the description of the API uses it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

export interface ParameterDescription {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Documented {
  readonly operationId: string;
  /** empty where no key is needed */
  readonly security?: readonly unknown[];
  readonly parameters?: readonly ParameterDescription[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly components: { readonly responses?: Readonly<Record<string, Response>> };
}

/** How a value is validated: a parameter is converted from text to the type of the schema. */
export type Fits = (value: unknown) => string | undefined;

export interface DescribedResponse {
  /** undefined for no body */
  readonly type: string | undefined;
  /** the reason why the body, or one of its lines, does not match the schema of the status; undefined when it matches */
  readonly faultOf: Fits;
}

export interface DescribedOperation {
  readonly id: string;
  readonly needsKey: boolean;
  readonly method: string;
  /** with `{name}` for a parameter */
  readonly path: string;
  readonly pathParameters: readonly ParameterDescription[];
  readonly queryParameters: readonly ParameterDescription[];
  readonly body: Schema | undefined;
  readonly fitsBody: Fits;
  /** by the name of the parameter in path or query */
  readonly fitsParameter: ReadonlyMap<string, Fits>;
  readonly responses: ReadonlyMap<number, DescribedResponse>;
}

const escapePointer = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');

/** Reads an OpenAPI document: the operations, their parameters and bodies, and their responses. */
export const readDescription = (document: unknown) => {
  const { paths, components } = document as Document;
  const resolvePointer = (pointer: string): unknown => {
    const keys = pointer.slice(2).split('/');
    return keys.reduce<unknown>(
      (inner, key) => (inner as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    );
  };
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : resolve(resolvePointer(schema.$ref) as Schema);

  const options = { strict: false, allErrors: false, ownProperties: true } as const;
  const asItIs = new Ajv2020(options);
  const asText = new Ajv2020({ ...options, coerceTypes: true });
  for (const ajv of [asItIs, asText]) {
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    ajv.addSchema({ ...(document as object), $id: 'openapi' });
  }
  const fits = (ajv: Ajv2020, pointer: string): Fits => {
    let validate: ValidateFunction | undefined;
    return (value) => {
      validate ??= ajv.compile({ $ref: `openapi#${encodeURI(pointer)}` });
      if (validate(value)) return undefined;
      const [error] = validate.errors ?? [];
      return `${error?.instancePath ?? ''} ${error?.message ?? 'is not valid'}`.trim();
    };
  };

  const read = (path: string, method: string, operation: Documented): DescribedOperation => {
    const pointer = `/paths/${escapePointer(path)}/${method}`;
    const parameters = operation.parameters ?? [];
    const jsonBody = operation.requestBody?.content['application/json'];
    const fitsParameter = new Map(
      parameters.map(({ name }, nth): [string, Fits] => [name, fits(asText, `${pointer}/parameters/${nth}/schema`)]),
    );
    const responses = Object.entries(operation.responses).map(([status, written]): [number, DescribedResponse] => {
      const referred = written.$ref?.split('/').at(-1);
      const response = referred === undefined ? written : (components.responses?.[referred] ?? {});
      const where =
        referred === undefined ? `${pointer}/responses/${status}` : `/components/responses/${escapePointer(referred)}`;
      const [type] = Object.keys(response.content ?? {});
      const faultOf =
        type === undefined ? () => undefined : fits(asItIs, `${where}/content/${escapePointer(type)}/schema`);
      return [Number(status), { type, faultOf }];
    });
    return {
      id: operation.operationId,
      needsKey: operation.security?.length !== 0,
      method: method.toUpperCase(),
      path,
      pathParameters: parameters.filter((parameter) => parameter.in === 'path'),
      queryParameters: parameters.filter((parameter) => parameter.in === 'query'),
      body: jsonBody?.schema,
      fitsBody: fits(asItIs, `${pointer}/requestBody/content/application~1json/schema`),
      fitsParameter,
      responses: new Map(responses),
    };
  };

  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => read(path, method, operation)),
  );
  return { operations /** the schema itself, where it was only referred to */, resolve };
};
export type ApiDescription = ReturnType<typeof readDescription>;
