import type { FeatureImpact } from '@bunting/contracts';
import { type Evaluation, type Evaluator, compileEvaluator } from '@bunting/evaluation';
import type { Feature, FeatureInEnvironment } from '../features/feature.ts';
import { toEvaluableFeatures, type PlaygroundContent } from './playground-content.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';
import { conditionsOf, groupsOf, stickyFieldsOf, type UserFields } from './user-groups.ts';

/** The maximum number of evaluations of the state before the changes; the state after them is evaluated as often. */
const maxEvaluationsOfImpact = 16_000;

/** The maximum number of groups in a reply. It is shared by the features, but each of them may have at least four. */
const maxGroups = 24;

const percentage = (count: number, total: number): number => Math.round((count / total) * 1_000) / 10;

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

const settingsIn = (
  { content }: EvaluatedSnapshot,
  name: string,
  environment: string,
): Pick<FeatureInEnvironment, 'strategies' | 'variants'> =>
  inEnvironment(content.features.find((feature) => feature.name === name) ?? { environments: {} }, environment);

/** The users for whom a feature is evaluated. */
interface EvaluationPlan {
  readonly name: string;
  /** the fields in which generated users differ */
  readonly stickyFields: readonly string[];
  readonly groups: readonly UserFields[];
}

const planFor = ({ before, after, environment }: Comparison, name: string, limit: number): EvaluationPlan => {
  const settings = [before, after].map((snapshot) => ({ snapshot, ...settingsIn(snapshot, name, environment) }));
  const active = settings.flatMap(({ snapshot, strategies }) =>
    strategies.filter(({ disabled }) => !disabled).map((strategy) => ({ snapshot, strategy })),
  );
  const stickyFields = [
    ...stickyFieldsOf(active.map(({ strategy }) => strategy)),
    ...settings.flatMap(({ variants }) => variants.map(({ stickiness }) => stickiness ?? 'default')),
  ];
  return {
    name,
    stickyFields: stickyFields.filter((field) => field !== 'default' && field !== 'random'),
    groups: groupsOf(
      active.map(({ snapshot, strategy }) => conditionsOf(strategy, snapshot.content)),
      limit,
    ),
  };
};

const evaluate = (
  { before, after, environment, now }: Comparison,
  name: string,
  context: UserFields,
  random: number,
): { readonly before: Evaluation; readonly after: Evaluation } => {
  const fields = new Map([...context, ['environment', environment]]);
  const evaluateIn = ({ evaluator }: EvaluatedSnapshot) =>
    evaluator.evaluate(name, { fields, now, random: () => random });
  return { before: evaluateIn(before), after: evaluateIn(after) };
};

/** The impact on a group, as percentages of the generated users. @param users how many users are generated */
const impactOnGroup = (
  comparison: Comparison,
  { name, stickyFields }: EvaluationPlan,
  group: UserFields,
  users: number,
): FeatureImpact['groups'][number] => {
  const counts = { before: 0, after: 0, gains: 0, loses: 0, changesVariant: 0 };
  for (let user = 1; user <= users; user++) {
    const fields = new Map([...stickyFields.map((field): [string, string] => [field, `user-${user}`]), ...group]);
    const { before, after } = evaluate(comparison, name, fields, (user - 0.5) / users);
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
};

const impactOnExample = (
  comparison: Comparison,
  name: string,
  fields: UserFields,
): FeatureImpact['examples'][number] => {
  const { before, after } = evaluate(comparison, name, fields, 0.5);
  const resultOf = ({ enabled, variant }: Evaluation) => ({ isEnabled: enabled, variant: variant.name });
  return { before: resultOf(before), after: resultOf(after) };
};

/** Whether every strategy of a feature is of a type that the server can evaluate. */
const isEvaluable = ({ evaluator }: EvaluatedSnapshot, name: string, now: Date): boolean =>
  (evaluator.explain(name, { fields: new Map(), now, random: () => 0.5 })?.strategies ?? []).every(
    (strategy) => strategy.isEvaluable,
  );

/** The impact of changes on users: the states before and after them, evaluated for generated users and for example users. */
export const computeImpactOnUsers = (
  contents: { readonly before: PlaygroundContent; readonly after: PlaygroundContent },
  environment: string,
  names: readonly Feature['name'][],
  { examples, now }: { readonly examples: readonly UserFields[]; readonly now: Date },
): { users: number; features: FeatureImpact[] } => {
  const snapshotOf = (content: PlaygroundContent): EvaluatedSnapshot => ({
    content,
    evaluator: compileEvaluator(toEvaluableFeatures(content, environment), content.segments),
  });
  const [before, after] = [snapshotOf(contents.before), snapshotOf(contents.after)];
  const comparison = { before, after, environment, now };
  const maxGroupsOfFeature = Math.max(4, Math.floor(maxGroups / names.length));
  const plans = names.map((name) => planFor(comparison, name, maxGroupsOfFeature));
  const groupCount = plans.reduce((sum, { groups }) => sum + groups.length, 0);
  const users = Math.max(100, Math.min(1_000, Math.floor(maxEvaluationsOfImpact / Math.max(1, groupCount))));
  const features = plans.map((plan) => ({
    name: plan.name,
    isComplete: isEvaluable(before, plan.name, now) && isEvaluable(after, plan.name, now),
    groups: plan.groups.map((group) => impactOnGroup(comparison, plan, group, users)),
    examples: examples.map((fields) => impactOnExample(comparison, plan.name, fields)),
  }));
  return { users, features };
};
