import type { CheckedChange } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { prepareProposal } from '../src/changes/prepare-proposal.ts';
import type { ChangeContext } from '../src/changes/change-context.ts';
import type { Feature } from '../src/features/feature.ts';
import { aFeature, aSegment, aStrategy, type FeatureAbout, someProjectContext, refusalOf } from './builders.ts';

export const rolloutStrategy = aStrategy({
  id: 's1',
  name: 'flexibleRollout',
  title: 'Half',
  parameters: { rollout: '50', stickiness: 'userId', groupId: 'checkout' },
  constraints: [{ contextName: 'userId', operator: 'IN', values: ['1'], inverted: false, caseInsensitive: false }],
  segments: [4, 2],
});
export const defaultStrategy = aStrategy({ id: 's2', sortOrder: 1 });
export const disabledStrategy = aStrategy({ id: 's3', disabled: true, sortOrder: 2 });
export const betaSegment = aSegment({ id: 4, project: 'shop' });
const globalSegment = aSegment({ id: 2, name: 'everywhere' });
const foreignSegment = aSegment({ id: 5, name: 'theirs', project: 'garage' });

export const inProduction = (about: FeatureAbout = {}): Feature => {
  const { strategies = [rolloutStrategy, defaultStrategy], enabled = false, ...rest } = about;
  return aFeature({ environments: { production: { enabled, strategies, variants: [] } }, ...rest });
};

export const aChangeContext = (
  features: readonly Feature[] = [inProduction()],
  about: Partial<ChangeContext> = {},
): ChangeContext => {
  const segments = [betaSegment, globalSegment, foreignSegment];
  let made = 0;
  return {
    project: 'shop',
    environment: 'production',
    projectContext: someProjectContext({ segments: new Map(segments.map((segment) => [segment.id, segment])) }),
    protectedEnvironments: [],
    now: '2026-11-21T10:00:00.000Z',
    generateStrategyId: () => `made-${++made}`,
    features: new Map(features.map((feature) => [feature.name, feature])),
    children: new Map(),
    segments: new Map(segments.map((segment) => [segment.id, segment])),
    segmentReferrers: new Map(),
    segmentsByName: new Map(),
    stagedLists: [],
    ...about,
  };
};

export type Posted = { readonly action: string; readonly feature?: string; readonly payload?: unknown };
export const onCheckout = (action: string, payload?: unknown, feature = 'checkout'): Posted => ({
  action,
  feature,
  payload,
});
export const checkedChanges = (
  changes: Posted[],
  context: ChangeContext = aChangeContext(),
  earlier: Posted[] = [],
  order?: readonly number[],
): CheckedChange[] =>
  prepareProposal(
    parseChanges(changes),
    { earlier: earlier.length === 0 ? [] : parseChanges(earlier), order },
    context,
  );
export const checkedChange = (change: Posted, context?: ChangeContext, earlier?: Posted[]): CheckedChange =>
  checkedChanges([change], context, earlier)[0] as CheckedChange;
export const faultOf = (change: Posted, context?: ChangeContext, earlier?: Posted[]) => {
  const { kind, message, details } = refusalOf(() => checkedChange(change, context, earlier));
  return { kind, message, path: details[0]?.path };
};

export const strategyBody = { name: 'default', constraints: [], parameters: {} };
