import type { Constraint } from '../strategies/constraints.ts';
import type { FeatureStrategy } from '../strategies/strategies.ts';
import { constraintPhrase, strategySentence, timeOfReader } from '../strategies/strategy-sentence.ts';
import { asJsonObject, type JsonObject } from '../values.ts';
import type { ChangeAction } from './change.ts';

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
  /** writes times; by default as the reader's browser does */
  readonly timeText?: (time: Date) => string;
}

/** What a change does, as a sentence; for a change of a strategy, of variants or of a segment also what is there before and after it, in words. */
interface ChangeSentence {
  readonly sentence: string;
  readonly before?: string;
  readonly after?: string;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function weightOf(variant: JsonObject): string {
  return `${textOf(variant['name'])} (${Number(variant['weight']) / 10} %)`;
}

function listIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value as unknown[]).map(asJsonObject) : [];
}

function describeVariants(variants: unknown): string {
  return listIn(variants).map(weightOf).join(', ') || 'none';
}

/** A constraint in a payload; what is missing is empty. */
function constraintIn(member: JsonObject): Constraint {
  const { contextName, operator, values, ...rest } = member as Partial<Constraint>;
  return {
    ...rest,
    contextName: textOf(contextName),
    operator: textOf(operator) as Constraint['operator'],
    values: Array.isArray(values) ? values : [],
  };
}

/** What a change says of a segment, which may have a list of ids besides. */
function describeSegment({ name, constraints }: JsonObject, { timeText = timeOfReader }: SentenceContext): string {
  const conditions = listIn(constraints).map((one) => constraintPhrase(constraintIn(one), timeText));
  return `${textOf(name)}: ${conditions.join(' and ') || 'no constraints'}`;
}

/** The strategy that a payload describes. A member that should be a list but is not becomes an empty one. */
function strategyIn(members: JsonObject): FeatureStrategy {
  const list = (name: string): unknown[] => (Array.isArray(members[name]) ? (members[name] as unknown[]) : []);
  return {
    name: textOf(members['name']) || 'flexibleRollout',
    parameters: asJsonObject(members['parameters']) as FeatureStrategy['parameters'] & object,
    constraints: listIn(members['constraints']).map(constraintIn),
    segments: list('segments') as number[],
    variants: list('variants') as FeatureStrategy['variants'] & object,
  };
}

/** The strategy that a payload replaces: the snapshot of the request, if it has one, else the current one. */
function strategyBefore(payload: JsonObject, { strategies }: SentenceContext): FeatureStrategy | undefined {
  return (payload['snapshot'] as FeatureStrategy | undefined) ?? strategies[textOf(payload['id'])];
}

function describe(strategy: object, { segmentNames, timeText }: SentenceContext): string {
  return strategySentence(strategyIn(asJsonObject(strategy)), segmentNames, timeText);
}

type SentenceWriter = (payload: JsonObject, context: SentenceContext) => ChangeSentence;

/** The sentence of each action. */
const writers: Readonly<Record<ChangeAction, SentenceWriter>> = {
  updateEnabled: ({ enabled }, { environment }) => ({
    sentence: enabled === true ? `Turn on in ${environment}` : `Turn off in ${environment}`,
  }),
  addStrategy: (payload, context) => ({ sentence: 'Add a strategy', after: describe(payload, context) }),
  updateStrategy: (payload, context) => {
    const before = strategyBefore(payload, context);
    const { snapshot: _, ...changed } = payload;
    const keepsType = changed['name'] === undefined || changed['name'] === before?.name;
    const parameters = { ...(keepsType ? before?.parameters : undefined), ...asJsonObject(changed['parameters']) };
    const after = describe({ ...before, ...changed, parameters }, context);
    if (before === undefined) return { sentence: 'Change a strategy', after };
    return { sentence: 'Change a strategy', before: describe(before, context), after };
  },
  deleteStrategy: (payload, context) => {
    const before = strategyBefore(payload, context);
    return before === undefined
      ? { sentence: 'Remove a strategy' }
      : { sentence: 'Remove a strategy', before: describe(before, context) };
  },
  reorderStrategy: () => ({ sentence: 'Change the order of the strategies' }),
  patchVariant: (payload) => {
    const { variants, snapshot } = payload;
    return {
      sentence: listIn(variants).length === 0 ? 'Remove all variants' : 'Set the variants',
      ...(snapshot === undefined ? {} : { before: describeVariants(asJsonObject(snapshot)['variants']) }),
      after: describeVariants(variants),
    };
  },
  archiveFeature: () => ({ sentence: 'Archive the flag, in every environment' }),
  addDependency: ({ feature }) => ({ sentence: `Let it depend on ${textOf(feature)}` }),
  deleteDependency: () => ({ sentence: 'Let it depend on no other flag' }),
  updateSegment: ({ snapshot, ...segment }, context) => {
    const sentence = `Change the segment ${textOf(segment['name'])}`.trim();
    if (snapshot === undefined) return { sentence };
    const before = asJsonObject(snapshot);
    return {
      sentence,
      before: describeSegment(before, context),
      after: describeSegment({ ...before, ...segment }, context),
    };
  },
  deleteSegment: ({ id }, { segmentNames }) => ({
    sentence: `Delete the segment ${segmentNames.get(Number(id)) ?? ''}`.trim(),
  }),
  updateSegmentList: ({ id, root, replaced, size, added, removed, contextName }, { segmentNames }) => {
    const segment = `the segment ${segmentNames.get(Number(id)) ?? ''}`.trim();
    const count = (ids: unknown): string => Number(ids).toLocaleString('en-US');
    const isRemoved = root === null;
    const after = isRemoved
      ? 'no list: everybody who satisfies the constraints of the segment'
      : `${count(size)} ids of ${textOf(contextName)}`;
    if (typeof replaced !== 'object' || replaced === null)
      return {
        sentence: isRemoved ? `Remove the list of ${segment}` : `Give ${segment} a list`,
        before: 'no list',
        after,
      };
    const { version, ...before } = asJsonObject(replaced);
    return {
      sentence: isRemoved
        ? `Remove the list of ${segment}: it no longer limits whom the segment matches`
        : `Replace the list of ${segment}: ${count(added)} added, ${count(removed)} removed`,
      before: `${count(before['size'])} ids of ${textOf(before['contextName'])} (version ${textOf(version)})`,
      after,
    };
  },
};

function isKnown(action: string): action is ChangeAction {
  return Object.hasOwn(writers, action);
}

/** A change as a sentence. The sentence of an action that only a newer server knows is its name. */
export function changeSentence({ action, payload }: DescribedChange, context: SentenceContext): ChangeSentence {
  return isKnown(action) ? writers[action](asJsonObject(payload), context) : { sentence: action };
}

const listOperators = /^(IN|NOT_IN|STR_\w+)$/;

/** Text that says the same wherever it stands in a sentence, also where its characters could be formatting. */
function isPlain(text: unknown): boolean {
  return text === undefined || /^[\p{L}\p{N}@.:/+-]*(_[\p{L}\p{N}@.:/+-]+)*$/u.test(textOf(text));
}

function isWholeConstraint(member: JsonObject): boolean {
  const { operator, values, value, contextName } = constraintIn(member);
  if (!isPlain(contextName) || !isPlain(operator)) return false;
  if (listOperators.test(operator)) return values !== undefined && values.length <= 4 && values.every(isPlain);
  // The sentence has minutes.
  if (operator.startsWith('DATE_')) return Date.parse(value ?? '') % 60_000 === 0;
  return isPlain(value);
}

/** Whether the sentence of a strategy has all of it, but for what is as it was before. */
function isWholeStrategy(strategy: JsonObject, before: JsonObject, segmentNames: ReadonlyMap<number, string>): boolean {
  const { name = 'flexibleRollout', disabled, variants, title, sortOrder } = strategy;
  const parameters = asJsonObject(strategy['parameters']);
  const segments = Array.isArray(strategy['segments']) ? (strategy['segments'] as number[]) : [];
  const isNamed = (id: number): boolean => {
    const segment = segmentNames.get(id);
    return segment !== undefined && isPlain(segment.replaceAll(' ', '')) && !/ (and|where) /.test(` ${segment} `);
  };
  return (
    (name === 'flexibleRollout' || name === 'default') &&
    disabled !== true &&
    before['disabled'] !== true &&
    listIn(variants).length === 0 &&
    listIn(before['variants']).length === 0 &&
    [undefined, null, '', before['title']].includes(title as string | undefined) &&
    [undefined, before['sortOrder']].includes(sortOrder) &&
    Object.keys(parameters).every((key) => ['rollout', 'stickiness', 'groupId'].includes(key)) &&
    isPlain(parameters['rollout']) &&
    isPlain(parameters['stickiness']) &&
    listIn(strategy['constraints']).every(isWholeConstraint) &&
    segments.every(isNamed)
  );
}

/**
 * Whether the sentence of a change, with what is before and after it, says everything that the change does; where it is not certain, it does not.
 * @param feature the name of the feature, which is the group of a strategy where it has no other
 */
export function saysEverything(
  { action, payload }: DescribedChange,
  feature: string,
  { segmentNames, strategies, environment }: SentenceContext,
): boolean {
  const content = asJsonObject(payload);
  const { snapshot: _, ...changed } = content;
  switch (action) {
    case 'updateEnabled':
      return Object.keys(changed).every((key) => key === 'enabled');
    case 'archiveFeature':
    case 'deleteDependency':
      return true;
    case 'addDependency':
      return isPlain(content['feature']) && Object.keys(changed).every((key) => key === 'feature');
    case 'deleteSegment':
      return segmentNames.has(Number(content['id']));
    case 'deleteStrategy':
      return strategyBefore(content, { segmentNames, strategies, environment }) !== undefined;
    case 'addStrategy': {
      const { groupId = feature } = asJsonObject(changed['parameters']);
      return groupId === feature && isWholeStrategy(changed, {}, segmentNames);
    }
    case 'updateStrategy': {
      const context = { segmentNames, strategies, environment };
      const found = strategyBefore(content, context);
      // What the change leaves out is what it is by then, which may not be what it was.
      if (found === undefined || !['parameters', 'constraints', 'segments'].every((key) => key in changed))
        return false;
      const before = asJsonObject(found);
      const group = asJsonObject(before['parameters'])['groupId'];
      const { before: old, after } = writers.updateStrategy(content, context);
      const { groupId = group } = asJsonObject(changed['parameters']);
      return old !== after && groupId === group && isWholeStrategy({ ...before, ...changed }, before, segmentNames);
    }
    default:
      return false;
  }
}

/** What an action does, where only its name is known, as of a change that was discarded. */
const actionTexts: Readonly<Record<ChangeAction, string>> = {
  updateEnabled: 'turn on or off',
  addStrategy: 'add a strategy',
  updateStrategy: 'change a strategy',
  deleteStrategy: 'remove a strategy',
  reorderStrategy: 'change the order of the strategies',
  patchVariant: 'set the variants',
  archiveFeature: 'archive the flag',
  addDependency: 'let it depend on another flag',
  deleteDependency: 'let it depend on no other flag',
  updateSegment: 'change the segment',
  deleteSegment: 'delete the segment',
  updateSegmentList: 'replace the list of the segment',
};

/** What an action does, in words; its name if only a newer server knows it. */
export function actionText(action: string): string {
  return isKnown(action) ? actionTexts[action] : action;
}
