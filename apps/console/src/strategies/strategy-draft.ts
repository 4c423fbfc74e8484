import type { Constraint, FeatureStrategy, StrategyVariant } from '@bunting/contracts';
import type { Json } from './three-way-merge.ts';

/** A strategy while it is edited: every field is there. */
export interface StrategyDraft {
  readonly name: string;
  readonly title: string;
  readonly disabled: boolean;
  readonly parameters: Readonly<Record<string, string>>;
  readonly constraints: readonly Constraint[];
  readonly segments: readonly number[];
  readonly variants: readonly StrategyVariant[];
}

const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string';

export const draftOf = (strategy: FeatureStrategy): StrategyDraft => ({
  name: strategy.name,
  title: strategy.title ?? '',
  disabled: strategy.disabled ?? false,
  parameters: Object.fromEntries(Object.entries(strategy.parameters ?? {}).filter(isText)),
  constraints: strategy.constraints ?? [],
  segments: strategy.segments ?? [],
  variants: strategy.variants ?? [],
});

/** A new strategy: everybody, by the context field that is most constant. */
export const newDraft = (feature: string): StrategyDraft => ({
  name: 'flexibleRollout',
  title: '',
  disabled: false,
  parameters: { rollout: '100', stickiness: 'default', groupId: feature },
  constraints: [],
  segments: [],
  variants: [],
});

/** Constraints as a request has them: without the empty line of a list that is still being typed. */
export const sentConstraints = (constraints: readonly Constraint[]): Constraint[] =>
  constraints.map(({ values, ...constraint }) => ({
    ...constraint,
    ...(values && { values: values.length > 1 && values.at(-1) === '' ? values.slice(0, -1) : [...values] }),
  }));

/** A draft as a request has it. A strategy with variants gives every variant its stickiness. */
export const strategyOf = ({ title, parameters, constraints, segments, variants, ...draft }: StrategyDraft) => ({
  ...draft,
  title: title.trim() === '' ? null : title.trim(),
  parameters: { ...parameters },
  constraints: sentConstraints(constraints),
  segments: [...segments],
  variants: variants.map((variant) => ({ ...variant })),
});

export const jsonOfDraft = (draft: StrategyDraft): Json => draft as unknown as Json;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The draft that a JSON text describes. Members that are left out are empty.
 * @throws Error with a sentence for the user where it is no strategy
 */
export const parseDraft = (text: string): StrategyDraft => {
  const value = JSON.parse(text) as unknown;
  if (!isObject(value)) throw new Error('A strategy is an object: { "name": …, "parameters": … }.');
  const { name, title = '', disabled = false, parameters = {}, constraints = [], segments = [], variants = [] } = value;
  if (typeof name !== 'string' || name === '') throw new Error('`name` is the type of the strategy: a text.');
  if (typeof title !== 'string' && title !== null) throw new Error('`title` is a text.');
  if (typeof disabled !== 'boolean') throw new Error('`disabled` is true or false.');
  if (!isObject(parameters)) throw new Error('`parameters` is an object of texts.');
  if (
    !Array.isArray(constraints) ||
    !constraints.every(
      (item) => isObject(item) && typeof item['contextName'] === 'string' && typeof item['operator'] === 'string',
    )
  )
    throw new Error('`constraints` is a list of objects with `contextName` and `operator`.');
  if (!Array.isArray(segments) || !segments.every((id) => Number.isInteger(id)))
    throw new Error('`segments` is a list of the ids of segments.');
  if (!Array.isArray(variants) || !variants.every((item) => isObject(item) && typeof item['name'] === 'string'))
    throw new Error('`variants` is a list of objects with `name` and `weight`.');
  return {
    name,
    disabled,
    title: title ?? '',
    segments: segments as number[],
    parameters: Object.fromEntries(Object.entries(parameters).map(([key, item]) => [key, String(item)])),
    constraints: constraints as Constraint[],
    variants: variants as StrategyVariant[],
  };
};

/** A text that two strategies share when they do the same, in whatever environment. */
export const signatureOf = (strategy: FeatureStrategy): string => {
  const { title: _, ...draft } = draftOf(strategy);
  const sorted = Object.entries(draft.parameters).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify({ ...draft, parameters: sorted, segments: draft.segments.toSorted((a, b) => a - b) });
};
