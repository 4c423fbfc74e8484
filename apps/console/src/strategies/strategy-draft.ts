import { type Constraint, type FeatureStrategy, isJsonObject, type StrategyVariant } from '@bunting/contracts';

/** A strategy in an editor: every field has a value. */
export type StrategyDraft = {
  readonly name: string;
  readonly title: string;
  readonly disabled: boolean;
  readonly parameters: Readonly<Record<string, string>>;
  readonly constraints: readonly Constraint[];
  readonly segments: readonly number[];
  readonly variants: readonly StrategyVariant[];
};

function isText(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === 'string';
}

/** The draft with which an editor of a stored strategy begins. */
export function strategyDraftOf(strategy: FeatureStrategy): StrategyDraft {
  return {
    name: strategy.name,
    title: strategy.title ?? '',
    disabled: strategy.disabled ?? false,
    parameters: Object.fromEntries(Object.entries(strategy.parameters ?? {}).filter(isText)),
    constraints: strategy.constraints ?? [],
    segments: strategy.segments ?? [],
    variants: strategy.variants ?? [],
  };
}

/** A new strategy: a rollout to everybody, with the default stickiness. */
export function newStrategyDraft(feature: string, rollout = 100): StrategyDraft {
  return {
    name: 'flexibleRollout',
    title: '',
    disabled: false,
    parameters: { rollout: String(rollout), stickiness: 'default', groupId: feature },
    constraints: [],
    segments: [],
    variants: [],
  };
}

/** The constraints for a request body, without the empty last line that typing leaves in a list of values. */
export function constraintsForRequest(constraints: readonly Constraint[]): Constraint[] {
  return constraints.map(({ values, ...constraint }) => ({
    ...constraint,
    ...(values && { values: values.length > 1 && values.at(-1) === '' ? values.slice(0, -1) : [...values] }),
  }));
}

/** The request body of a draft. */
export function strategyBodyOf({ title, parameters, constraints, segments, variants, ...draft }: StrategyDraft) {
  return {
    ...draft,
    title: title.trim() === '' ? null : title.trim(),
    parameters: { ...parameters },
    constraints: constraintsForRequest(constraints),
    segments: [...segments],
    variants: variants.map((variant) => ({ ...variant })),
  };
}

/**
 * The body of an update that gives a strategy exactly this content. An update keeps what it leaves out and what is null, so a title and
 * parameters that are to go are sent as empty texts.
 */
export function strategyUpdateOf<Body extends Pick<FeatureStrategy, 'name' | 'title' | 'parameters'>>(
  body: Body,
  stored: Pick<FeatureStrategy, 'name' | 'parameters'>,
) {
  const gone = stored.name === body.name ? Object.keys(stored.parameters ?? {}) : [];
  const { title, parameters, ...content } = body;
  return {
    ...content,
    title: title ?? '',
    parameters: { ...Object.fromEntries(gone.map((name) => [name, ''])), ...parameters },
  };
}

/**
 * The draft that a JSON text describes. Missing members get their empty value.
 * @throws Error whose message tells the user why the text is not a strategy
 */
export function parseStrategyDraft(json: string): StrategyDraft {
  const value = JSON.parse(json) as unknown;
  if (!isJsonObject(value)) throw new Error('A strategy is an object: { "name": …, "parameters": … }.');
  const { name, title = '', disabled = false, parameters = {}, constraints = [], segments = [], variants = [] } = value;
  if (typeof name !== 'string' || name === '') throw new Error('`name` is the type of the strategy: a text.');
  if (typeof title !== 'string' && title !== null) throw new Error('`title` is a text.');
  if (typeof disabled !== 'boolean') throw new Error('`disabled` is true or false.');
  if (!isJsonObject(parameters)) throw new Error('`parameters` is an object of texts.');
  if (
    !Array.isArray(constraints) ||
    !constraints.every(
      (item) => isJsonObject(item) && typeof item['contextName'] === 'string' && typeof item['operator'] === 'string',
    )
  )
    throw new Error('`constraints` is a list of objects with `contextName` and `operator`.');
  if (!Array.isArray(segments) || !segments.every((id) => Number.isInteger(id)))
    throw new Error('`segments` is a list of the ids of segments.');
  if (!Array.isArray(variants) || !variants.every((item) => isJsonObject(item) && typeof item['name'] === 'string'))
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
}

/** A text that is equal for two strategies exactly if they have the same effect; id, title and environment do not count. */
export function strategyFingerprint(strategy: FeatureStrategy): string {
  const { title: _, ...draft } = strategyDraftOf(strategy);
  const sorted = Object.entries(draft.parameters).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify({ ...draft, parameters: sorted, segments: draft.segments.toSorted((a, b) => a - b) });
}
