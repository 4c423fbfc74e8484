import type { ApiDescription, Schema } from './api-description.ts';
import { generateNumber } from './generate-number.ts';
import { identifierNameOf, textGenerator, type ValueContext } from './generate-text.ts';
import type { KnownObjects } from './known-objects.ts';
import { usualValues, words } from './sample-values.ts';

export interface ValueSource {
  /** generates a body that updates an object: most of its properties as a response had them, as far as the schema of the body has them */
  updateOf(schema: Schema, object: Readonly<Record<string, unknown>>, context: ValueContext): unknown;
  /** generates a value that matches the schema of a property */
  value(schema: Schema, property: string, context: ValueContext): unknown;
  /** generates a value that matches the schema of a parameter, written as text */
  text(schema: Schema, parameter: string, context: ValueContext): string;
}

/** Values that are nested more deeply get few members. */
const maxFullDepth = 5;
/** Keys of objects whose property names are free. */
const freeKeys = [...words, 'rollout', 'stickiness', 'groupId'];

/** The schema that requires a base and one of its branches. Keywords that the branch lacks come from the base. */
const narrow = (base: Schema, branch: Schema): Schema => ({
  ...base,
  ...branch,
  ...(base.properties === undefined ? {} : { properties: { ...base.properties, ...branch.properties } }),
  ...(base.required === undefined ? {} : { required: [...base.required, ...(branch.required ?? [])] }),
});

/** Generates values that match their schemas: ordinary and unusual ones, which refer to existing or to unknown objects. */
const valueGenerator = ({ resolve }: ApiDescription, known: KnownObjects) => {
  const { pickKnownValue, candidateText, generateText } = textGenerator(known);

  const itemCount = ({ random, isPlain }: ValueContext, depth: number): number => {
    if (!isPlain && random.chance(0.03)) return 40;
    if (depth > maxFullDepth) return random.integer(0, 1);
    return isPlain ? random.integer(1, 2) : random.integer(0, 4);
  };

  const generateArray = (schema: Schema, property: string, context: ValueContext, depth: number): unknown[] => {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items = {} } = schema;
    const length = Math.min(maxItems, Math.max(minItems, itemCount(context, depth)));
    const array = Array.from({ length }, () => generateValue(items, property, context, depth + 1));
    if (schema.uniqueItems !== true) return array;
    return [...new Map(array.map((item) => [JSON.stringify(item), item])).values()];
  };

  /** Members beyond the declared properties, as far as the schema allows any. */
  const generateFreeMembers = (schema: Schema, context: ValueContext, depth: number): [string, unknown][] => {
    const { random, isPlain, resourceType } = context;
    const memberSchema = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties;
    if (typeof memberSchema !== 'object') {
      const isAllowed = memberSchema !== false && !isPlain && random.chance(0.05);
      return isAllowed ? [['somethingElse', random.pick([1, 'x', null, []])]] : [];
    }
    return Array.from({ length: random.integer(0, 3) }, () => {
      const knownKey = isPlain && depth === 0 ? pickKnownValue(resourceType, context) : undefined;
      const key = knownKey ?? random.pick(freeKeys);
      return [key, generateValue(memberSchema, 'rollout', context, depth + 1)];
    });
  };

  const generateObject = (schema: Schema, context: ValueContext, depth: number): Record<string, unknown> => {
    const { random, isPlain } = context;
    const probability = isPlain ? random.pick([0.1, 0.4, 0.8]) : depth > maxFullDepth ? 0.1 : 0.5;
    // Objects with the most parents come first, so that the parents are then chosen to match.
    const parentCount = (property: string): number => known.parentCount(identifierNameOf(property));
    const properties = Object.entries(schema.properties ?? {}).toSorted(
      ([one], [other]) => parentCount(other) - parentCount(one),
    );
    const members: [string, unknown][] = [];
    for (const [name, property] of properties) {
      const isRequired = schema.required?.includes(name) === true;
      if (isRequired || random.chance(probability))
        members.push([name, generateValue(property, name, context, depth + 1)]);
    }
    return Object.fromEntries([...members, ...generateFreeMembers(schema, context, depth)]);
  };

  /** A value for a schema that allows any. */
  const generateAny = (context: ValueContext, depth: number): unknown => {
    const { random } = context;
    return random.pick([
      () => null,
      () => random.chance(0.5),
      () => random.integer(-5, 1_000),
      () => candidateText({}, '', context),
      () => (depth > maxFullDepth ? [] : [generateAny(context, depth + 1)]),
      () => (depth > maxFullDepth ? {} : { [random.pick(words)]: generateAny(context, depth + 1) }),
    ])();
  };

  const generateInteger = (schema: Schema, property: string, context: ValueContext): number => {
    const knownValue = Number(pickKnownValue(property, context));
    return Number.isSafeInteger(knownValue) ? knownValue : generateNumber(schema, true, context.random);
  };

  const generateOfType = (schema: Schema, property: string, context: ValueContext, depth: number): unknown => {
    const { random } = context;
    const type = typeof schema.type === 'string' ? schema.type : random.pick(schema.type ?? ['any']);
    switch (type) {
      case 'null':
        return null;
      case 'boolean':
        return random.chance(0.5);
      case 'integer':
        return generateInteger(schema, property, context);
      case 'number':
        return generateNumber(schema, random.chance(0.7), random);
      case 'string':
        return generateText(schema, property, context);
      case 'array':
        return generateArray(schema, property, context, depth);
      case 'object':
        return generateObject(schema, context, depth);
      default:
        return schema.properties === undefined ? generateAny(context, depth) : generateObject(schema, context, depth);
    }
  };

  const generateValue = (reference: Schema, property: string, context: ValueContext, depth = 0): unknown => {
    const { random } = context;
    const schema = resolve(reference);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) {
      const usual = usualValues[property]?.filter((value) => schema.enum?.includes(value)) ?? [];
      return random.pick(context.isPlain && usual.length > 0 ? usual : schema.enum);
    }
    const branches = schema.anyOf ?? schema.oneOf;
    if (branches !== undefined) {
      const { anyOf: _any, oneOf: _one, ...base } = schema;
      return generateValue(narrow(base, resolve(random.pick(branches))), property, context, depth);
    }
    if (schema.allOf !== undefined) {
      const { allOf, ...base } = schema;
      return generateValue(Object.assign({}, base, ...allOf.map(resolve)) as Schema, property, context, depth);
    }
    return generateOfType(schema, property, context, depth);
  };

  return generateValue;
};

export const valueSource = (description: ApiDescription, known: KnownObjects): ValueSource => {
  const { resolve } = description;
  const generateValue = valueGenerator(description, known);

  /** Whether the constants and enumerations of a schema allow the values of an object. */
  const allowsConstantsOf = ({ properties }: Schema, object: Readonly<Record<string, unknown>>): boolean =>
    Object.entries(properties ?? {}).every(([name, property]) => {
      const { const: constant, enum: allowed = constant === undefined ? undefined : [constant] } = resolve(property);
      return allowed === undefined || object[name] === undefined || allowed.includes(object[name]);
    });

  const updateOf: ValueSource['updateOf'] = (reference, object, context) => {
    const { random } = context;
    const schema = resolve(reference);
    const branches = (schema.anyOf ?? schema.oneOf)?.map(resolve);
    if (branches !== undefined) {
      const matching = branches.filter((branch) => allowsConstantsOf(branch, object));
      return updateOf(random.pick(matching.length > 0 ? matching : branches), object, context);
    }
    const generated = generateValue(schema, '', context);
    if (typeof generated !== 'object' || generated === null || Array.isArray(generated)) return generated;
    const reusable = Object.entries(object).filter(([name]) => schema.properties?.[name] !== undefined);
    return { ...generated, ...Object.fromEntries(reusable.filter(() => random.chance(0.9))) };
  };

  return {
    updateOf,
    value: (schema, property, context) => generateValue(schema, property, context),
    text: (schema, parameter, context) => {
      const value = generateValue(schema, parameter, context);
      return typeof value === 'string' ? value : value === null ? '' : String(value);
    },
  };
};
