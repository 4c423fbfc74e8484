import type { ApiDescription, DescribedOperation } from './api-description.ts';
import type { ValueContext } from './generate-text.ts';
import { type KnownObjects, singular } from './known-objects.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { ValueSource } from './value-source.ts';

/** A request before it is encoded; the sender encodes it. */
export interface FuzzRequest {
  readonly operation: DescribedOperation;
  /** by the names of the parameters in the path */
  readonly pathValues: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** the request target that is sent instead of the one made of path and query */
  readonly rawTarget?: string;
  /** the bytes that are sent instead of `body` */
  readonly rawBody?: Buffer;
}

const json = 'application/json';

/** The type of the objects at a path: `environment` for `/environments/sort-order`, `strategy` for `/default-strategy`. */
const resourceTypeOf = (path: string): string => {
  const words = path.split('/').flatMap((part) => (part.startsWith('{') ? [] : part.split('-').slice(-1)));
  const noun = words.findLast((word) => /(s|y)$/.test(word));
  return noun === undefined ? '' : singular(noun);
};

/** The request target: path and query, percent-encoded. */
export const targetOf = ({ operation, pathValues, query, rawTarget }: FuzzRequest): string => {
  if (rawTarget !== undefined) return rawTarget;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(pathValues[name] ?? 'x'),
  );
  const search = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  return search === '' ? path : `${path}?${search}`;
};

/** The bytes of the body; undefined for a request without one. */
export const bodyOf = ({ rawBody, body }: FuzzRequest): Buffer | undefined =>
  rawBody ?? (body === undefined ? undefined : Buffer.from(JSON.stringify(body)));

/** An admin token, and the key of a user with all permissions. */
export interface Keys {
  readonly admin: string;
  readonly personal: string;
  /** the id of the account that has the personal key; no request may change or delete it */
  readonly personalId: string;
}

/** Generates requests that match the description; the objects that they refer to need not exist. */
export const validRequests = (description: ApiDescription, known: KnownObjects, source: ValueSource, keys: Keys) => {
  /** Text that matches the schema of a parameter; undefined if none was generated. */
  const generateParameter = (
    operation: DescribedOperation,
    { name, schema }: DescribedOperation['pathParameters'][number],
    context: ValueContext,
  ): string | undefined => {
    for (let attempt = 0; attempt < 10; attempt++) {
      const text = source.text(schema, name, context);
      if (operation.validateParameter.get(name)?.(text) === undefined) return text.toWellFormed();
    }
    return undefined;
  };

  const generateQuery = (operation: DescribedOperation, context: ValueContext): [string, string][] => {
    const { random } = context;
    return operation.queryParameters.flatMap(({ name, schema, required }): [string, string][] => {
      if (!required && !random.chance(context.isPlain ? 0.1 : 0.4)) return [];
      const { type, items } = description.resolve(schema);
      if (type === 'array') {
        return Array.from({ length: random.integer(1, 3) }, () => [name, source.text(items ?? {}, name, context)]);
      }
      const text = generateParameter(operation, { name, schema, in: 'query', required }, context);
      return text === undefined ? [] : [[name, text]];
    });
  };

  const generateBody = (operation: DescribedOperation, context: ValueContext): unknown => {
    if (operation.body === undefined) return undefined;
    const { isPlain, random } = context;
    const object = isPlain ? known.pickObject(operation.path, context.chosenValues, random) : undefined;
    for (let attempt = 0; attempt < 30; attempt++) {
      const isUpdate = object !== undefined && attempt < 5 && random.chance(0.7);
      const generated = isUpdate
        ? source.updateOf(operation.body, object, context)
        : source.value(operation.body, '', context);
      // Validated as the server receives it: without properties that are undefined.
      const body: unknown = JSON.parse(JSON.stringify(generated) ?? 'null');
      if (operation.validateBody(body) === undefined) return body;
    }
    throw new Error(`No body could be generated that matches the schema of ${operation.id}.`);
  };

  return (operation: DescribedOperation, random: SeededRandom, isSentUnchanged: boolean): FuzzRequest => {
    // Half of the requests should succeed; the others refer to existing or unknown objects, with ordinary or unusual values.
    const shouldSucceed = random.chance(0.5);
    const knownValues = shouldSucceed || random.chance(0.5) ? known.pickPathValues(operation.path, random) : {};
    const isPlain = shouldSucceed || random.chance(0.5);
    const resourceType = resourceTypeOf(operation.path);
    const context: ValueContext = { random, isPlain, chosenValues: { ...knownValues }, resourceType };
    const pathValues: Record<string, string> = Object.fromEntries(
      operation.pathParameters.map((parameter) => {
        const { name } = parameter;
        const knownValue = knownValues[name];
        const isUsable = knownValue !== undefined && operation.validateParameter.get(name)?.(knownValue) === undefined;
        return [name, (isUsable ? knownValue : generateParameter(operation, parameter, context)) || 'x'];
      }),
    );
    if (operation.path.startsWith('/api/admin/service-account/{id}') && pathValues['id'] === keys.personalId)
      pathValues['id'] = '9999';
    const body = generateBody(operation, context);
    // A run may delete the personal key, so a request that is changed to break a rule does not use it: it must be refused for that rule.
    const authorization = isSentUnchanged && random.chance(0.5) ? keys.personal : keys.admin;
    return {
      operation,
      pathValues,
      query: generateQuery(operation, context),
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': json }) },
      body,
    };
  };
};
