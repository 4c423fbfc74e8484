import { requireEvaluationsWithinLimit } from './playground-limits.ts';

type ContextValues = Readonly<Record<string, unknown>>;

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** The fields of a context that can be compared, and the names of those that cannot. Top-level fields take precedence over properties. */
export const readContext = ({ properties, ...fields }: ContextValues) => {
  const areProperties = typeof properties === 'object' && properties !== null && !Array.isArray(properties);
  const entries = [...Object.entries(areProperties ? (properties as ContextValues) : {}), ...Object.entries(fields)];
  const ignored = entries.flatMap(([name, value]) => (isScalar(value) ? [] : [name]));
  if (properties !== undefined && !areProperties) ignored.push('properties');
  const scalars = entries.filter((entry): entry is [string, string | number | boolean] => isScalar(entry[1]));
  return { fields: new Map(scalars.map(([name, value]) => [name, String(value)])), ignored: [...new Set(ignored)] };
};

/**
 * Every combination of values that are separated by commas.
 * @throws Refusal when there are more than `maxEvaluations`
 */
export const combinationsOf = (fields: ReadonlyMap<string, string>): ReadonlyMap<string, string>[] => {
  const choices = [...fields].map(([name, text]) => {
    const values = [...new Set(text.split(',').map((value) => value.trim()))].filter((value) => value !== '');
    return [name, values.length === 0 ? [''] : values] as const;
  });
  const count = choices.reduce((product, [, values]) => product * values.length, 1);
  requireEvaluationsWithinLimit(count);
  return choices.reduce<Map<string, string>[]>(
    (combinations, [name, values]) =>
      combinations.flatMap((combination) => values.map((value) => new Map([...combination, [name, value]]))),
    [new Map()],
  );
};

/**
 * The combinations of values of each of several contexts.
 * @throws Refusal when there are more than `maxEvaluations`
 */
export const combinationsOfAll = (contexts: readonly ReadonlyMap<string, string>[]): ReadonlyMap<string, string>[] => {
  const combinations: ReadonlyMap<string, string>[] = [];
  for (const fields of contexts) {
    combinations.push(...combinationsOf(fields));
    requireEvaluationsWithinLimit(combinations.length);
  }
  return combinations;
};
