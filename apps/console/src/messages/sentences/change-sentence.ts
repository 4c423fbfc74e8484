import { asJsonObject, type FeatureStrategy, type JsonObject } from '@bunting/contracts';
import { strategySentence } from './strategy-sentence.ts';

/** The parts of a change that its sentence needs. */
interface DescribedChange {
  readonly action: string;
  readonly payload?: unknown;
}

interface SentenceContext {
  readonly environment: string;
  /** the strategies of the feature before the change, by id */
  readonly strategies: Readonly<Record<string, FeatureStrategy>>;
  readonly segmentNames: ReadonlyMap<number, string>;
}

/** What a change does, as a sentence; for a change of a strategy also the strategy before and after it, in words. */
interface ChangeSentence {
  readonly sentence: string;
  readonly before?: string;
  readonly after?: string;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

const weightOf = (variant: JsonObject): string => `${textOf(variant['name'])} (${Number(variant['weight']) / 10} %)`;

/** The strategy that a payload describes. A member that should be a list but is not becomes an empty one. */
const strategyIn = (members: JsonObject): FeatureStrategy => {
  const list = (name: string): unknown[] => (Array.isArray(members[name]) ? (members[name] as unknown[]) : []);
  return {
    name: textOf(members['name']) || 'flexibleRollout',
    parameters: asJsonObject(members['parameters']) as FeatureStrategy['parameters'] & object,
    constraints: list('constraints') as FeatureStrategy['constraints'] & object,
    segments: list('segments') as number[],
    variants: list('variants') as FeatureStrategy['variants'] & object,
  };
};

/** The strategy that a payload replaces: the snapshot of the request, if it has one, else the current one. */
const strategyBefore = (payload: JsonObject, { strategies }: SentenceContext): FeatureStrategy | undefined =>
  (payload['snapshot'] as FeatureStrategy | undefined) ?? strategies[textOf(payload['id'])];

/** A change as a sentence. The sentence of an unknown action is the name of the action. */
export const changeSentence = ({ action, payload }: DescribedChange, context: SentenceContext): ChangeSentence => {
  const members = asJsonObject(payload);
  const { environment, segmentNames } = context;
  const describe = (strategy: object): string => strategySentence(strategyIn(asJsonObject(strategy)), segmentNames);
  switch (action) {
    case 'updateEnabled':
      return { sentence: members['enabled'] === true ? `Turn on in ${environment}` : `Turn off in ${environment}` };
    case 'addStrategy':
      return { sentence: 'Add a strategy', after: describe(members) };
    case 'updateStrategy': {
      const before = strategyBefore(members, context);
      const { snapshot: _, ...changed } = members;
      const after = describe({ ...before, ...changed });
      if (before === undefined) return { sentence: 'Change a strategy', after };
      return { sentence: 'Change a strategy', before: describe(before), after };
    }
    case 'deleteStrategy': {
      const before = strategyBefore(members, context);
      return before === undefined
        ? { sentence: 'Remove a strategy' }
        : { sentence: 'Remove a strategy', before: describe(before) };
    }
    case 'reorderStrategy':
      return { sentence: 'Change the order of the strategies' };
    case 'patchVariant': {
      const variants = Array.isArray(members['variants']) ? (members['variants'] as unknown[]).map(asJsonObject) : [];
      return {
        sentence: variants.length === 0 ? 'Remove all variants' : 'Set the variants',
        ...(variants.length === 0 ? {} : { after: variants.map(weightOf).join(', ') }),
      };
    }
    case 'archiveFeature':
      return { sentence: 'Archive the flag, in every environment' };
    case 'addDependency':
      return { sentence: `Let it depend on ${textOf(members['feature'])}` };
    case 'deleteDependency':
      return { sentence: 'Let it depend on no other flag' };
    case 'updateSegment':
      return { sentence: `Change the segment ${textOf(members['name'])}`.trim() };
    case 'deleteSegment':
      return { sentence: 'Delete the segment' };
    default:
      return { sentence: action };
  }
};
