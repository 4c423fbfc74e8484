import type { ApiDescription, DescribedOperation } from './api-description.ts';
import { type KnownObjects, singular } from './known-objects.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { ValueSource, ValueContext } from './value-source.ts';

/** A request before it is encoded; the sender encodes it. */
export interface FuzzRequest {
  readonly operation: DescribedOperation;
  /** by the names of the parameters in the path */
  readonly values: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** the request target, in place of that of path and query */
  readonly rawTarget?: string;
  readonly rawBody?: Buffer;
}

const json = 'application/json';

/** `/environments/sort-order` is about an environment, `/default-strategy` about a strategy. */
const nounOf = (path: string): string => {
  const words = path.split('/').flatMap((part) => (part.startsWith('{') ? [] : part.split('-').slice(-1)));
  const about = words.findLast((word) => /(s|y)$/.test(word));
  return about === undefined ? '' : singular(about);
};

export const targetOf = ({ operation, values, query, rawTarget }: FuzzRequest): string => {
  if (rawTarget !== undefined) return rawTarget;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? 'x'));
  const search = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  return search === '' ? path : `${path}?${search}`;
};

export const bodyOf = ({ rawBody, body }: FuzzRequest): Buffer | undefined =>
  rawBody ?? (body === undefined ? undefined : Buffer.from(JSON.stringify(body)));

/** An admin token, and the key of a user with all permissions. */
export interface Keys {
  readonly admin: string;
  readonly personal: string;
  /** the account of that key; no request may delete it */
  readonly personalId: string;
}

/** Generates requests that match the description; the objects that they refer to need not exist. */
export const validRequests = (description: ApiDescription, known: KnownObjects, source: ValueSource, keys: Keys) => {
  const fittingText = (
    operation: DescribedOperation,
    { name, schema }: DescribedOperation['pathParameters'][number],
    whim: ValueContext,
  ): string | undefined => {
    for (let attempt = 0; attempt < 10; attempt++) {
      const made = source.text(schema, name, whim);
      if (operation.fitsParameter.get(name)?.(made) === undefined) return made.toWellFormed();
    }
    return undefined;
  };

  const query = (operation: DescribedOperation, whim: ValueContext): [string, string][] => {
    const { random } = whim;
    return operation.queryParameters.flatMap(({ name, schema, required }): [string, string][] => {
      if (!required && !random.chance(whim.plain ? 0.1 : 0.4)) return [];
      const { type, items } = description.resolve(schema);
      if (type === 'array') {
        return Array.from({ length: random.integer(1, 3) }, () => [name, source.text(items ?? {}, name, whim)]);
      }
      const made = fittingText(operation, { name, schema, in: 'query', required }, whim);
      return made === undefined ? [] : [[name, made]];
    });
  };

  const body = (operation: DescribedOperation, whim: ValueContext): unknown => {
    if (operation.body === undefined) return undefined;
    const thing = whim.plain ? known.responseAbout(operation.path, whim.within, whim.random) : undefined;
    for (let attempt = 0; attempt < 30; attempt++) {
      const isAgain = thing !== undefined && attempt < 5 && whim.random.chance(0.7);
      const said = isAgain ? source.saidAgain(operation.body, thing, whim) : source.value(operation.body, '', whim);
      const made: unknown = JSON.parse(JSON.stringify(said) ?? 'null');
      if (operation.fitsBody(made) === undefined) return made;
    }
    throw new Error(`No body could be made up that fits ${operation.id}.`);
  };

  return (operation: DescribedOperation, random: SeededRandom, isSound: boolean): FuzzRequest => {
    // Half of the requests should succeed; the others refer to existing or unknown objects, with ordinary or unusual values.
    const isMeant = random.chance(0.5);
    const there = isMeant || random.chance(0.5) ? known.along(operation.path, random) : {};
    const plain = isMeant || random.chance(0.5);
    const whim = { random, plain, within: { ...there }, noun: nounOf(operation.path) };
    const values: Record<string, string> = Object.fromEntries(
      operation.pathParameters.map((parameter) => {
        const { name } = parameter;
        const isThere = there[name] !== undefined && operation.fitsParameter.get(name)?.(there[name]) === undefined;
        return [name, (isThere ? there[name] : fittingText(operation, parameter, whim)) || 'x'];
      }),
    );
    if (operation.path.startsWith('/api/admin/service-account/{id}') && values['id'] === keys.personalId)
      values['id'] = '9999';
    const made = body(operation, whim);
    // A run may delete the personal key, so a request that breaks another rule does not use it: it must be refused for that rule.
    const authorization = isSound && random.chance(0.5) ? keys.personal : keys.admin;
    return {
      operation,
      values,
      query: query(operation, whim),
      headers: { authorization, ...(made === undefined ? {} : { 'content-type': json }) },
      body: made,
    };
  };
};
