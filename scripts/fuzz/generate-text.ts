import type { Schema } from './api-description.ts';
import type { KnownObjects } from './known-objects.ts';
import { dateTimes, jsonPointers, patternedTexts, unusualTexts, usualValues, words } from './sample-values.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** The context in which the values of one request are generated. */
export interface ValueContext {
  readonly random: SeededRandom;
  /** whether values are such that the request probably succeeds: few optional properties, nothing unusual, and only existing objects */
  readonly isPlain: boolean;
  /** the type of the object at the path, or of the objects in the list at the path, such as `segment` */
  readonly resourceType: string;
  /** the values chosen so far for this request, by parameter name, starting with those of the path */
  readonly chosenValues: Record<string, string>;
}

/** For a property that refers to an object: the parameter or property under which the known objects have that identifier. */
const identifierNames: Readonly<Record<string, string>> = {
  environmentId: 'environment',
  newProjectId: 'project',
  project: 'projectId',
  projects: 'projectId',
  users: 'userId',
  reviewers: 'userId',
  tokenName: 'apiTokenName',
};

/** The name under which the known objects have the values of a property. */
export const identifierNameOf = (property: string): string => identifierNames[property] ?? property;

/** How many different names created objects get, which bounds the number of objects in a long run. */
const generatedNameCount = 80;
const maxAttempts = 30;

const matchesTextSchema = (
  { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern }: Schema,
  text: string,
): boolean => {
  // JSON Schema counts code points.
  const { length } = [...text];
  return length >= minLength && length <= maxLength && (pattern === undefined || new RegExp(pattern, 'u').test(text));
};

/** Text of an allowed length, for a schema that no candidate matches. */
const fallbackText = ({ minLength = 0, maxLength = 100 }: Schema): string =>
  'abcdefghij'.repeat(Math.ceil(Math.max(minLength, 1) / 10)).slice(0, Math.min(maxLength, Math.max(minLength, 3)));

/** Generates text, which often identifies an existing object. */
export const textGenerator = (known: KnownObjects) => {
  /** Picks the identifier of a known object for a property. The values of a request refer to the same parent objects where possible. */
  const pickKnownValue = (property: string, context: ValueContext): string | undefined => {
    const { random, isPlain, chosenValues } = context;
    if (!random.chance(isPlain ? 0.9 : 0.5)) return undefined;
    // A property `name` without a type is the name of the object at the path, or of any known object.
    const identifier = property === 'name' && random.chance(0.5) ? context.resourceType : identifierNameOf(property);
    const chosenValue = chosenValues[identifier];
    if (chosenValue !== undefined && random.chance(0.9)) return chosenValue;
    const picked = known.pickValue(identifier, random, chosenValues);
    if (picked === undefined) return undefined;
    for (const [parameter, value] of Object.entries(picked.parents)) chosenValues[parameter] ??= value;
    return picked.value;
  };

  /** Text for a property, which may violate the length and the pattern of the schema. */
  const candidateText = (schema: Schema, property: string, context: ValueContext): string => {
    const { random, isPlain } = context;
    if (schema.pattern !== undefined && random.chance(0.5)) return random.pick(patternedTexts);
    const usual = usualValues[property];
    if (usual !== undefined && random.chance(0.5)) return random.pick(usual);
    if (schema.format === 'date-time') return random.pick(dateTimes);
    if (schema.format === 'uri') return 'https://example.org/path?query=1';
    const knownValue = pickKnownValue(property, context);
    if (knownValue !== undefined) return knownValue;
    if (property === 'path' || property === 'from') return random.pick(jsonPointers);
    if (!isPlain && random.chance(0.2)) return random.pick(unusualTexts);
    if (random.chance(0.4)) return random.pick(words);
    if (random.chance(0.1)) return random.pick(dateTimes);
    return `fuzz-${random.integer(0, generatedNameCount - 1)}`;
  };

  const generateText = (schema: Schema, property: string, context: ValueContext): string => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const candidate = candidateText(schema, property, context);
      if (matchesTextSchema(schema, candidate)) return candidate;
    }
    return fallbackText(schema);
  };

  return { pickKnownValue, candidateText, generateText };
};
