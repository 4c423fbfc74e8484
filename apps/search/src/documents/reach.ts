import type { FeatureState, Reach, ReachRule } from '@bunting/contracts';

const listStrategies = new Set(['userWithId', 'remoteAddress', 'applicationHostname']);

/** The percentage of a rollout, as the evaluation reads it: text that is no number is for nobody. */
function shareOf({ name, share }: ReachRule): number {
  const isRollout = name === 'flexibleRollout' || name.startsWith('gradualRollout');
  if (!isRollout) return 100;
  const percentage = Number(share);
  return Number.isNaN(percentage) ? 0 : Math.min(100, Math.max(0, percentage));
}

function audienceOf({ name, constraints = 0, segments = [] }: ReachRule): Pick<Reach, 'audience' | 'segments'> {
  if (listStrategies.has(name)) return { audience: 'list' };
  const isBuiltIn = name === 'default' || name === 'flexibleRollout' || name.startsWith('gradualRollout');
  if (!isBuiltIn || constraints > 0) return { audience: 'conditions' };
  return segments.length > 0 ? { audience: 'segments', segments } : {};
}

/** Whom strategies reach. Without any, a feature that is enabled is on for everybody, as the evaluation has it. */
function extentOf(rules: readonly ReachRule[]): Exclude<Reach['extent'], 'off'> {
  if (rules.length === 0) return 'all';
  if (rules.some((rule) => shareOf(rule) === 100 && audienceOf(rule).audience === undefined)) return 'all';
  return rules.every((rule) => shareOf(rule) === 0) ? 'none' : 'partial';
}

/** Whom a feature reaches in an environment; undefined for a state of a version that did not tell. */
export function reachOf({ enabled, rules }: FeatureState['environments'][number]): Reach | undefined {
  if (rules === undefined) return undefined;
  const extent = extentOf(rules);
  const [only] = rules.length === 1 ? rules : [];
  const ofOnly = only === undefined ? {} : { share: shareOf(only), ...audienceOf(only) };
  return {
    extent: enabled ? extent : 'off',
    rules: rules.length,
    ...(extent === 'all' ? { share: 100 } : ofOnly),
    variants: Math.max(0, ...rules.map(({ variants = 0 }) => variants)),
  };
}
