import { type Change, type Constraint, type FeatureImpact, invalidProperty } from '@bunting/contracts';
import {
  compileConstraint,
  compileEvaluator,
  type Evaluation,
  type Evaluator,
  rolloutBuckets,
} from '@bunting/evaluation';
import { featureNamesOf, segmentIdsOf } from '../changes/change-context.ts';
import { type Feature, type FeatureInEnvironment, inEnvironment, type Strategy } from '../features/feature.ts';
import { type PlaygroundContent, toEvaluableFeatures } from './playground.ts';

/** The maximum number of values of one constraint, or of one list in the parameters of a strategy. */
const maxValuesOfList = 4;

const minuteMs = 60_000;

function shiftNumber(value: string | undefined, difference: number): string[] {
  const number = Number(value);
  return value === undefined || !Number.isFinite(number) ? [] : [String(number + difference)];
}

function shiftDate(value: string | undefined, minutes: number): string[] {
  const time = Date.parse(value ?? '');
  return Number.isNaN(time) ? [] : [new Date(time + minutes * minuteMs).toISOString()];
}

/**
 * Example values for a constraint, on both sides of its operand where it is a bound. The first one satisfies the constraint, unless it is
 * inverted or `NOT_IN`.
 */
function valuesFor({ operator, values = [], value }: Constraint): string[] {
  if (operator.startsWith('NUM_')) {
    if (operator === 'NUM_GT') return [...shiftNumber(value, 1), ...shiftNumber(value, 0)];
    if (operator === 'NUM_LT') return [...shiftNumber(value, -1), ...shiftNumber(value, 0)];
    return [...shiftNumber(value, 0), ...shiftNumber(value, operator === 'NUM_GTE' ? -1 : 1)];
  }
  if (operator === 'DATE_AFTER') return [...shiftDate(value, 1), ...shiftDate(value, -1)];
  if (operator === 'DATE_BEFORE') return [...shiftDate(value, -1), ...shiftDate(value, 1)];
  if (operator === 'SEMVER_GT') return ['99999.0.0', '0.0.0'];
  if (operator === 'SEMVER_LT') return ['0.0.0', '99999.0.0'];
  if (operator.startsWith('SEMVER_')) return value === undefined ? [] : [value, '0.0.0', '99999.0.0'];
  return values.slice(0, maxValuesOfList);
}

/** The parameters of strategies that are lists of values, with the context field that each is compared with. */
const listParameters = [
  ['userIds', 'userId'],
  ['IPs', 'remoteAddress'],
  ['hostNames', 'hostname'],
] as const;

type Condition = readonly [field: string, values: readonly string[]];

/** The values that a strategy compares, by context field. */
function conditionsOf(
  { name, constraints, segments, parameters }: Strategy,
  content: PlaygroundContent,
): readonly Condition[] {
  const ofSegments = content.segments.filter(({ id }) => segments.includes(id));
  const allConstraints = [...constraints, ...ofSegments.flatMap((segment) => segment.constraints)];
  const lists = name === 'flexibleRollout' ? [] : listParameters;
  return [
    ...allConstraints.map((constraint): Condition => [constraint.contextName, valuesFor(constraint)]),
    ...lists.flatMap(([parameter, field]): Condition[] => {
      const values = parameters[parameter]?.split(',').map((item) => item.trim()) ?? [];
      return values.length === 0 ? [] : [[field, values.filter((item) => item !== '').slice(0, maxValuesOfList)]];
    }),
  ];
}

/** Every combination of the values; undefined if there are more than the limit. The first combination has no value. */
function combinations(conditions: readonly Condition[], limit: number): UserFields[] | undefined {
  const byField = new Map<string, Set<string>>();
  for (const [field, values] of conditions) {
    const valuesOfField = byField.get(field) ?? new Set();
    for (const value of values) valuesOfField.add(value);
    byField.set(field, valuesOfField);
  }
  let groups: UserFields[] = [new Map()];
  for (const [field, values] of byField) {
    if (groups.length * (values.size + 1) > limit) return undefined;
    groups = [...groups, ...[...values].flatMap((value) => groups.map((group) => new Map([...group, [field, value]])))];
  }
  return groups;
}

/**
 * Groups of users for whom strategies may evaluate differently: every combination of values or, beyond the limit, those that satisfy each
 * strategy.
 */
function groupsOf(strategies: readonly (readonly Condition[])[], limit: number): UserFields[] {
  const allCombinations = combinations(strategies.flat(), limit);
  if (allCombinations !== undefined) return allCombinations;
  const satisfying = strategies.map(
    (conditions): UserFields =>
      new Map(conditions.flatMap(([field, [value]]) => (value === undefined ? [] : [[field, value]]))),
  );
  const distinct = new Map(satisfying.map((fields) => [JSON.stringify([...fields]), fields]));
  return [new Map(), ...[...distinct.values()].filter(({ size }) => size > 0).slice(0, limit - 1)];
}

/** The context fields that assign users to rollouts and variants. */
function stickyFieldsOf(strategies: readonly Strategy[]): readonly string[] {
  const fields = strategies.flatMap(({ parameters, variants }) => [
    parameters['stickiness'],
    ...(variants ?? []).map(({ stickiness }) => stickiness),
  ]);
  const named = fields.filter((field) => field !== undefined && field !== 'default' && field !== 'random');
  return [...new Set(['userId', 'sessionId', ...(named as string[])])];
}

/** The values of context fields of some users, by field. */
export type UserFields = ReadonlyMap<string, string>;

/**
 * The maximum numbers of evaluations of the state before the changes, for the features that are changed and for those that only depend on
 * them; the state after the changes is evaluated as often.
 */
const maxEvaluations = { changed: 16_000, dependent: 32_000 };

/** The maximum number of groups of all changed features, of which each may have at least `minGroups`. */
const maxGroups = 24;
/** How many groups every feature may have. Those that only depend on changed ones have no more. */
const minGroups = 4;

const buckets = 100;

/** Ids for generated users, of whom as many are in each bucket of a group: its rollouts reach exactly their percentage of them. */
function evenIds(groupId: string, count: number): readonly string[] {
  const bucketOf = rolloutBuckets(groupId);
  const inBucket = new Map<number, number>();
  const ids: string[] = [];
  for (let nth = 1; ids.length < count; nth++) {
    const id = `user-${nth}`;
    const used = inBucket.get(bucketOf(id)) ?? 0;
    if (used >= count / buckets) continue;
    inBucket.set(bucketOf(id), used + 1);
    ids.push(id);
  }
  return ids;
}

function percentage(count: number, total: number): number {
  return Math.round((count / total) * 1_000) / 10;
}

interface EvaluatedSnapshot {
  readonly content: PlaygroundContent;
  readonly evaluator: Evaluator;
}

/** The environment before and after the changes, at one time. */
interface Comparison {
  readonly before: EvaluatedSnapshot;
  readonly after: EvaluatedSnapshot;
  readonly environment: string;
  readonly now: Date;
}

function settingsIn(
  { content }: EvaluatedSnapshot,
  name: string,
  environment: string,
): Pick<FeatureInEnvironment, 'strategies' | 'variants'> {
  return inEnvironment(content.features.find((feature) => feature.name === name) ?? { environments: {} }, environment);
}

/** The users for whom a feature is evaluated. */
interface EvaluationPlan {
  readonly name: string;
  /** the feature and those that it depends on before or after the changes */
  readonly names: readonly string[];
  /** the fields in which generated users differ */
  readonly stickyFields: readonly string[];
  /** the group of the rollout that the generated users represent evenly: that of the first changed strategy */
  readonly groupId: string;
  readonly groups: readonly UserFields[];
}

function parentsIn({ content }: EvaluatedSnapshot, name: string): readonly string[] {
  return content.features.find((feature) => feature.name === name)?.dependencies.map(({ feature }) => feature) ?? [];
}

function planFor({ before, after, environment }: Comparison, name: string, limit: number): EvaluationPlan {
  // A feature is on for whom its parents are.
  const names = new Set([name, ...parentsIn(before, name), ...parentsIn(after, name)]);
  const settings = [before, after].flatMap((snapshot) =>
    [...names].map((one) => ({ snapshot, ...settingsIn(snapshot, one, environment) })),
  );
  const active = settings.flatMap(({ snapshot, strategies }) =>
    strategies
      .filter(({ disabled }) => !disabled)
      .map((strategy) => ({ strategy, conditions: conditionsOf(strategy, snapshot.content) })),
  );
  const occurrences = Map.groupBy(active, (one) => JSON.stringify(one));
  const isChanged = (one: (typeof active)[number]): boolean => occurrences.get(JSON.stringify(one))?.length === 1;
  // Beyond the limit, the users that a change concerns come before those of strategies that stay as they are.
  const changedFirst = [...active.filter(isChanged), ...active.filter((one) => !isChanged(one))];
  const stickyFields = [
    ...stickyFieldsOf(active.map(({ strategy }) => strategy)),
    ...settings.flatMap(({ variants }) => variants.map(({ stickiness }) => stickiness ?? 'default')),
  ];
  return {
    names: [...names],
    name,
    stickyFields: stickyFields.filter((field) => field !== 'default' && field !== 'random'),
    groupId:
      changedFirst.find(({ strategy }) => strategy.parameters['groupId'])?.strategy.parameters['groupId'] ?? name,
    groups: groupsOf(
      changedFirst.map(({ conditions }) => conditions),
      limit,
    ),
  };
}

function evaluate(
  { before, after, environment, now }: Comparison,
  name: string,
  context: UserFields,
  random: number,
): { readonly before: Evaluation; readonly after: Evaluation } {
  const fields = new Map([...context, ['environment', environment]]);
  const evaluateIn = ({ evaluator }: EvaluatedSnapshot) =>
    evaluator.evaluate(name, { fields, now, random: () => random });
  return { before: evaluateIn(before), after: evaluateIn(after) };
}

/** The impact on a group, as percentages of the generated users. @param ids those of the generated users */
function impactOnGroup(
  comparison: Comparison,
  { name, stickyFields }: EvaluationPlan,
  group: UserFields,
  ids: readonly string[],
): FeatureImpact['groups'][number] {
  const counts = { before: 0, after: 0, gains: 0, loses: 0, changesVariant: 0 };
  const users = ids.length;
  for (const [nth, id] of ids.entries()) {
    const fields = new Map([...stickyFields.map((field): [string, string] => [field, id]), ...group]);
    const { before, after } = evaluate(comparison, name, fields, (nth + 0.5) / users);
    if (before.enabled) counts.before += 1;
    if (after.enabled) counts.after += 1;
    if (after.enabled && !before.enabled) counts.gains += 1;
    if (before.enabled && !after.enabled) counts.loses += 1;
    if (before.enabled && after.enabled && before.variant.name !== after.variant.name) counts.changesVariant += 1;
  }
  return {
    context: Object.fromEntries(group),
    before: percentage(counts.before, users),
    after: percentage(counts.after, users),
    gains: percentage(counts.gains, users),
    loses: percentage(counts.loses, users),
    changesVariant: percentage(counts.changesVariant, users),
  };
}

function impactOnExample(comparison: Comparison, name: string, fields: UserFields): FeatureImpact['examples'][number] {
  const { before, after } = evaluate(comparison, name, fields, 0.5);
  const resultOf = ({ enabled, variant }: Evaluation) => ({ isEnabled: enabled, variant: variant.name });
  return { before: resultOf(before), after: resultOf(after) };
}

/** Whether every strategy of a feature is of a type that the server can evaluate. */
function isEvaluable({ evaluator }: EvaluatedSnapshot, name: string, now: Date): boolean {
  return (evaluator.explain(name, { fields: new Map(), now, random: () => 0.5 })?.strategies ?? []).every(
    (strategy) => strategy.isEvaluable,
  );
}

/** The impact of changes on users: the states before and after them, evaluated for generated users and for example users. */
export function computeImpactOnUsers(
  contents: { readonly before: PlaygroundContent; readonly after: PlaygroundContent },
  environment: string,
  affected: readonly AffectedFeature[],
  { examples, now }: { readonly examples: readonly UserFields[]; readonly now: Date },
): { users: number; features: FeatureImpact[] } {
  const snapshotOf = (content: PlaygroundContent): EvaluatedSnapshot => ({
    content,
    evaluator: compileEvaluator(toEvaluableFeatures(content, environment), content.segments),
  });
  const [before, after] = [snapshotOf(contents.before), snapshotOf(contents.after)];
  const comparison = { before, after, environment, now };
  const [changed, dependents] = [
    affected.filter(({ dependsOn }) => dependsOn === undefined),
    affected.filter(({ dependsOn }) => dependsOn !== undefined),
  ];
  const groupsOfChanged = Math.max(minGroups, Math.floor(maxGroups / Math.max(1, changed.length)));
  const plansFor = (some: readonly AffectedFeature[], limit: number) =>
    some.map(({ name, dependsOn }) => ({ ...planFor(comparison, name, limit), dependsOn }));
  const changedPlans = plansFor(changed, groupsOfChanged);
  const groupCount = changedPlans.reduce((sum, { groups }) => sum + groups.length, 0);
  const wanted = Math.min(1_000, maxEvaluations.changed / Math.max(1, groupCount));
  const users = Math.max(1, Math.floor(wanted / buckets)) * buckets;
  // However many features depend on the changed ones, these are evaluated as thoroughly as without them.
  let left = maxEvaluations.dependent;
  const dependentPlans = plansFor(dependents, minGroups).filter(({ groups }) => (left -= groups.length * users) >= 0);
  const features = [...changedPlans, ...dependentPlans].map((plan) => {
    const ids = evenIds(plan.groupId, users);
    return {
      name: plan.name,
      ...(plan.dependsOn === undefined ? {} : { dependsOn: plan.dependsOn }),
      isComplete: plan.names.every((name) => isEvaluable(before, name, now) && isEvaluable(after, name, now)),
      groups: plan.groups.map((group) => impactOnGroup(comparison, plan, group, ids)),
      examples: examples.map((fields) => impactOnExample(comparison, plan.name, fields)),
    };
  });
  return { users, features };
}

/** Whether a constraint matches each of some users by itself. */
export function matchesOf(
  constraint: Constraint,
  users: readonly UserFields[],
  { environment, now }: { readonly environment: string; readonly now: Date },
): boolean[] {
  const matches = compileConstraint(constraint);
  return users.map((fields) =>
    matches({ fields: new Map([...fields, ['environment', environment]]), now, random: () => 0.5 }),
  );
}

/** The maximum number of features in one request. */
export const maxFeaturesOfImpact = 20;

/** A feature that changes affect. */
export interface AffectedFeature {
  readonly name: Feature['name'];
  /** of a feature that they affect only because it depends on others: which of them */
  readonly dependsOn?: Feature['name'][];
}

/**
 * The features that changes affect: those that they change, those that use a changed segment in the environment, and up to the limit those
 * that depend on them. Features of hidden projects are left out.
 * @throws Refusal when more than `maxFeaturesOfImpact` are changed or use a changed segment
 */
export function affectedFeatures(
  { features }: PlaygroundContent,
  changes: readonly Change[],
  environment: string,
  hidden: readonly string[],
): AffectedFeature[] {
  const changed = new Set(featureNamesOf(changes));
  const segments = new Set(segmentIdsOf(changes));
  const usesChangedSegment = (feature: Pick<Feature, 'environments'>): boolean =>
    inEnvironment(feature, environment).strategies.some((strategy) => strategy.segments.some((id) => segments.has(id)));
  const visible = features.filter(({ project }) => !hidden.includes(project));
  const affected = visible.filter((feature) => changed.has(feature.name) || usesChangedSegment(feature));
  if (affected.length > maxFeaturesOfImpact) {
    const reason = `The changes concern more than ${maxFeaturesOfImpact} features, the limit of one request`;
    throw invalidProperty(reason, '/body/changes');
  }
  const names = new Set(affected.map(({ name }) => name));
  const dependents = visible.flatMap(({ name, dependencies }): AffectedFeature[] => {
    const dependsOn = dependencies.map(({ feature }) => feature).filter((parent) => names.has(parent));
    return names.has(name) || dependsOn.length === 0 ? [] : [{ name, dependsOn }];
  });
  return [...affected.map(({ name }) => ({ name })), ...dependents.slice(0, maxFeaturesOfImpact - affected.length)];
}
