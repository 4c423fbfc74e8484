import { Ajv, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv';
import type { DataValidationCxt, SchemaValidateFunction } from 'ajv/dist/types/index.js';
import addFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { type ErrorDetail, invalidProperties } from '../errors.ts';
import { operandError } from '../constraint-operand.ts';
import { type Constraint } from '../model/strategies/constraint.ts';
import { coerce } from '../lenient-schema.ts';
import { truncate, quoteValue } from '../text/quote-value.ts';
import { textFormError, type TextForm } from '../text/text-form.ts';

const options = { allErrors: false, ownProperties: true, strict: false, useDefaults: true, verbose: true } as const;
const strictAjv = new Ajv(options);
const coercingAjv = new Ajv({ ...options, coerceTypes: true });
for (const ajv of [strictAjv, coercingAjv]) {
  (addFormats as unknown as (ajv: Ajv) => void)(ajv);
  ajv.addKeyword({
    keyword: 'coerceTo',
    schemaType: 'string',
    before: 'allOf',
    modifying: true,
    errors: false,
    validate: (type: 'string' | 'number', value: unknown, _schema?: AnySchemaObject, context?: DataValidationCxt) => {
      if (context !== undefined) context.parentData[context.parentDataProperty] = coerce(type, value);
      return true;
    },
  });
}

for (const ajv of [strictAjv, coercingAjv]) {
  const hasForm: SchemaValidateFunction = (form: TextForm, text: string) => {
    const message = textFormError(form, text);
    hasForm.errors = message === undefined ? [] : [{ keyword: 'form', message }];
    return message === undefined;
  };
  ajv.addKeyword({ keyword: 'form', type: 'string', schemaType: 'string', errors: true, validate: hasForm });
  const hasTrimmedLength = (max: number, text: string) => [...text.trim()].length <= max;
  ajv.addKeyword({ keyword: 'maxTrimmedLength', type: 'string', schemaType: 'number', validate: hasTrimmedLength });
  // Ajv runs this keyword after `properties`, so the members of the constraint have their declared types here.
  const hasMatchingOperand = (_rule: true, constraint: Constraint) => operandError(constraint, '') === undefined;
  ajv.addKeyword({ keyword: 'operand', type: 'object', schemaType: 'boolean', validate: hasMatchingOperand });
}

const compiled = new Map<Ajv, WeakMap<TSchema, ValidateFunction>>([
  [strictAjv, new WeakMap()],
  [coercingAjv, new WeakMap()],
]);

const validatorOf = (ajv: Ajv, schema: TSchema): ValidateFunction => {
  const validators = compiled.get(ajv) as WeakMap<TSchema, ValidateFunction>;
  let validate = validators.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(schema);
    validators.set(schema, validate);
  }
  return validate;
};

/** Formats an Ajv error as Unleash does (docs/behaviour.md, Errors). */
const detailOf = (error: ErrorObject, basePath: string): ErrorDetail => {
  const path = truncate(`${basePath}${error.instancePath}`, 1000);
  switch (error.keyword) {
    case 'required': {
      const missing = `${path}/${error.params['missingProperty'] as string}`;
      return {
        message: `The \`${missing}\` property is required. It was not present on the data you sent.`,
        path: missing,
      };
    }
    case 'additionalProperties': {
      const extra = truncate(error.params['additionalProperty'] as string, 200);
      const parent = error.instancePath === '' ? 'root' : `\`${path}\``;
      return {
        message: `The ${parent} object of the request does not allow additional properties. Your request included the \`${extra}\` property.`,
        path: `${path}/${extra}`,
      };
    }
    case 'enum': {
      const allowed = (error.params['allowedValues'] as unknown[]).map(quoteValue).join(', ');
      return {
        message: `The \`${path}\` property must be equal to one of the allowed values: ${allowed}. You provided ${quoteValue(error.data)}, which is not valid. Please use one of the allowed values instead.`,
        path,
      };
    }
    case 'type': {
      const types = [error.params['type'] as string | readonly string[]].flat().join(' or ');
      return { message: `The \`${path}\` property must be ${types}. You sent ${quoteValue(error.data)}.`, path };
    }
    case 'form': {
      const isEmpty = (error.data as string).trim() === '';
      const provided = isEmpty ? '' : ` You provided "${truncate(error.data as string, 200)}".`;
      return { message: `The \`${path}\` property ${error.message}.${provided}`, path };
    }
    case 'maxTrimmedLength':
      return { message: `The \`${path}\` property must be at most ${error.schema as number} characters long.`, path };
    case 'operand':
      return operandError(error.data as Constraint, path) as ErrorDetail;
    default:
      return {
        message: `The \`${path}\` property ${error.message ?? 'is not valid'}. You sent ${quoteValue(error.data)}.`,
        path,
      };
  }
};

/** The error details to report. A failed `T | null` is reported once, not once for each branch. */
const detailsOf = (errors: readonly ErrorObject[], path: string): ErrorDetail[] => {
  const isNullOnly = (error: ErrorObject): boolean => error.keyword === 'type' && error.params['type'] === 'null';
  const nullable = new Set(errors.filter(isNullOnly).map((error) => error.instancePath));
  const relevant = errors.filter((error) => error.keyword !== 'anyOf' && error.keyword !== 'if' && !isNullOnly(error));
  if (relevant.length === 0) return errors.map((error) => detailOf(error, path));
  return relevant.map((error) =>
    error.keyword === 'type' && nullable.has(error.instancePath)
      ? detailOf({ ...error, params: { type: [error.params['type'], 'null'] } }, path)
      : detailOf(error, path),
  );
};

/** How a value is encoded: `json` must have the types of the schema; `text`, such as a query, is converted to them. */
export type InputEncoding = 'json' | 'text';

/**
 * Validates a value against its schema and fills in defaults, in place.
 * @param path JSON pointer of the value within the request, e.g. `/body`; the prefix of every path in a refusal.
 * @throws Refusal `ValidationError` that names the invalid property.
 */
export const parse = <S extends TSchema>(
  schema: S,
  value: unknown,
  path = '',
  encoding: InputEncoding = 'json',
): Static<S> => {
  const validate = validatorOf(encoding === 'text' ? coercingAjv : strictAjv, schema);
  if (validate(value)) return value as Static<S>;
  throw invalidProperties(detailsOf(validate.errors ?? [], path));
};

/** Whether the value is valid. Fills in defaults, in place. */
export const matchesSchema = <S extends TSchema>(schema: S, value: unknown): value is Static<S> =>
  validatorOf(strictAjv, schema)(value);
