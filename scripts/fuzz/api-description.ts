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

interface ParameterDescription {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

/** A response in the document, or a reference to one. */
interface ResponseObject {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface OperationObject {
  readonly operationId: string;
  /** empty where no key is needed */
  readonly security?: readonly unknown[];
  readonly parameters?: readonly ParameterDescription[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly responses?: Readonly<Record<string, ResponseObject>> };
}

export const formType = 'application/x-www-form-urlencoded';

/** @returns why the value does not match a schema; undefined if it matches */
type Validate = (value: unknown) => string | undefined;

export interface DescribedResponse {
  /** the media type of the body; undefined for no body */
  readonly type: string | undefined;
  /** validates the body, or one of its lines */
  readonly validate: Validate;
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
  /** whether its body is a form, of which nothing is sent */
  readonly takesForm: boolean;
  readonly validateBody: Validate;
  /** by the name of the parameter in path or query; each converts text to the type of the schema first */
  readonly validateParameter: ReadonlyMap<string, Validate>;
  readonly responses: ReadonlyMap<number, DescribedResponse>;
}

/** Escapes one part of a JSON pointer. */
function escapePointer(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Reads an OpenAPI document: the operations, their parameters and bodies, and their responses. */
export function readDescription(document: unknown) {
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

  // Most schemas are compiled for a few values: optimising their code takes longer than it saves.
  const options = { strict: false, allErrors: false, ownProperties: true, code: { optimize: false } } as const;
  const jsonAjv = new Ajv2020(options);
  const textAjv = new Ajv2020({ ...options, coerceTypes: true });
  for (const ajv of [jsonAjv, textAjv]) {
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    ajv.addSchema({ ...(document as object), $id: 'openapi' });
  }
  /** Validates against the schema at a JSON pointer of the document. The schema is compiled on the first call. */
  const validatorAt = (ajv: Ajv2020, pointer: string): Validate => {
    let validate: ValidateFunction | undefined;
    return (value) => {
      validate ??= ajv.compile({ $ref: `openapi#${encodeURI(pointer)}` });
      if (validate(value)) return undefined;
      const [error] = validate.errors ?? [];
      return `${error?.instancePath ?? ''} ${error?.message ?? 'is not valid'}`.trim();
    };
  };

  const describeOperation = (path: string, method: string, operation: OperationObject): DescribedOperation => {
    const pointer = `/paths/${escapePointer(path)}/${method}`;
    const parameters = operation.parameters ?? [];
    const jsonBody = operation.requestBody?.content['application/json'];
    const validateParameter = new Map(
      parameters.map(({ name }, nth): [string, Validate] => [
        name,
        validatorAt(textAjv, `${pointer}/parameters/${nth}/schema`),
      ]),
    );
    const responses = Object.entries(operation.responses).map(
      ([status, responseOrReference]): [number, DescribedResponse] => {
        const component = responseOrReference.$ref?.split('/').at(-1);
        const response = component === undefined ? responseOrReference : (components.responses?.[component] ?? {});
        const responsePointer =
          component === undefined
            ? `${pointer}/responses/${status}`
            : `/components/responses/${escapePointer(component)}`;
        const [type] = Object.keys(response.content ?? {});
        const validate =
          type === undefined
            ? () => undefined
            : validatorAt(jsonAjv, `${responsePointer}/content/${escapePointer(type)}/schema`);
        return [Number(status), { type, validate }];
      },
    );
    return {
      id: operation.operationId,
      needsKey: operation.security?.length !== 0,
      method: method.toUpperCase(),
      path,
      pathParameters: parameters.filter((parameter) => parameter.in === 'path'),
      queryParameters: parameters.filter((parameter) => parameter.in === 'query'),
      body: jsonBody?.schema,
      takesForm: operation.requestBody?.content[formType] !== undefined,
      validateBody: validatorAt(jsonAjv, `${pointer}/requestBody/content/application~1json/schema`),
      validateParameter,
      responses: new Map(responses),
    };
  };

  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => describeOperation(path, method, operation)),
  );
  return {
    operations,
    /** Follows the references of a schema to the schema itself. */
    resolve,
  };
}
export type ApiDescription = ReturnType<typeof readDescription>;
