import type { Constraint } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aFeature, aSegment, aStrategy, someProjectContext, refusalOf } from '../../test/builders.ts';
import { fixedResourceLimits } from '../names.ts';
import { strategyOf } from '../strategies/strategy.ts';
import {
  deleteSegment,
  normalizeSegment,
  requestedContent,
  segmentCreated,
  type SegmentUpdateContext,
  setStrategySegments,
  updateSegment,
  usesSegment,
} from './segment.ts';

const constraint = (count: number): Constraint => ({
  contextName: 'anything',
  operator: 'IN',
  values: Array.from({ length: count }, (_, nth) => String(nth)),
});
const contextFields: SegmentUpdateContext['projectContext']['contextFields'] = new Map([
  ['anything', { legalValues: [] }],
  ['email', { legalValues: [] }],
  ['region', { legalValues: [{ value: 'oslo' }, { value: 'bergen' }] }],
]);
const projectContext = { allowsRegex: false, contextFields };
const alone: SegmentUpdateContext = { referrers: [], hidden: [], idOfName: () => undefined, projectContext };
const noRegex = { projectContext };
const withRegex = { projectContext: { ...projectContext, allowsRegex: true } };

describe('a segment', () => {
  it('is stored with normalised constraints', () => {
    expect(
      normalizeSegment(
        { name: 'beta', constraints: [{ contextName: 'anything', operator: 'NUM_GT', value: '5' }] },
        noRegex,
      ),
    ).toEqual({
      name: 'beta',
      description: null,
      project: null,
      constraints: [
        {
          contextName: 'anything',
          operator: 'NUM_GT',
          values: [],
          value: '5',
          inverted: false,
          caseInsensitive: false,
        },
      ],
    });
  });

  it('holds at most 1000 values in total', () => {
    expect(
      normalizeSegment({ name: 'beta', constraints: [constraint(400), constraint(600)] }, noRegex).constraints,
    ).toHaveLength(2);
    for (const constraints of [[constraint(400), constraint(601)], [constraint(1001)]]) {
      const refusal = refusalOf(() => normalizeSegment({ name: 'beta', constraints }, noRegex));
      expect(refusal).toMatchObject({ kind: 'ValidationError', details: [{ path: '/body/constraints' }] });
      expect(refusal.message).toContain('Segments may not have more than 1000 values');
    }
  });

  it.each<[string, string, Constraint[], string]>([
    ['a blank name', '  ', [], '/body/name'],
    ['a bad constraint', 'beta', [constraint(1), constraint(0)], '/body/constraints/1/values'],
  ])('is refused with %s', (_, name, constraints, path) => {
    expect(refusalOf(() => normalizeSegment({ name, constraints }, noRegex)).details[0]?.path).toBe(path);
  });

  it.each<[string, Constraint, string]>([
    ['a field that does not exist', { contextName: 'planet', operator: 'IN', values: ['mars'] }, 'NotFoundError'],
    ['a value that is not legal', { contextName: 'region', operator: 'IN', values: ['paris'] }, 'ValidationError'],
    ['one value that is not legal', { contextName: 'region', operator: 'NUM_EQ', value: '5' }, 'ValidationError'],
  ])('is refused with a constraint on %s, unless it is stored and stays', (_, invalid, kind) => {
    expect(refusalOf(() => normalizeSegment({ name: 'x', constraints: [invalid] }, noRegex)).kind).toBe(kind);
    expect(refusalOf(() => updateSegment(aSegment(), { constraints: [invalid] }, alone)).kind).toBe(kind);
    const stored = aSegment({ constraints: [constraint(1), invalid] });
    const { segment } = updateSegment(stored, { name: 'y', constraints: [constraint(2), invalid] }, alone);
    expect(segment).toMatchObject({ name: 'y', constraints: [constraint(2), invalid] });
    expect(refusalOf(() => updateSegment(stored, { constraints: [{ ...invalid, inverted: true }] }, alone)).kind).toBe(
      kind,
    );
  });

  it('emits its creation', () => {
    const segment = aSegment({ project: 'shop' });
    expect(segmentCreated(segment)).toEqual({ type: 'segment-created', project: 'shop', data: segment });
  });

  it('is used by a feature with one of its strategies in any environment', () => {
    const environments = { production: { enabled: false, strategies: [aStrategy({ segments: [4] })], variants: [] } };
    expect(usesSegment(aFeature({ environments }), 4)).toBe(true);
    expect(usesSegment(aFeature({ environments }), 5)).toBe(false);
  });
});

describe('a segment with REGEX', () => {
  const pattern: Constraint = { contextName: 'email', operator: 'REGEX', value: '@example[.]com$' };
  const stored = aSegment({
    constraints: normalizeSegment({ name: 'x', constraints: [pattern] }, withRegex).constraints,
  });

  it('is refused with the place of the operator unless the operator is allowed', () => {
    expect(
      refusalOf(() => normalizeSegment({ name: 'x', constraints: [constraint(1), pattern] }, noRegex)).details,
    ).toMatchObject([{ path: '/body/constraints/1/operator' }]);
  });

  it('keeps its pattern after the operator was turned off, and gets no other one', () => {
    const constraints = [pattern, constraint(1)];
    expect(updateSegment(stored, { constraints }, alone).segment?.constraints).toHaveLength(2);
    const others = [{ ...pattern, value: '@example[.]org$' }];
    expect(refusalOf(() => updateSegment(stored, { constraints: others }, alone)).message).toContain(
      'FEATURES_ALLOW_REGEX',
    );
    expect(
      updateSegment(stored, { constraints: others }, { ...alone, ...withRegex }).segment?.constraints,
    ).toMatchObject(others);
  });
});

describe('a segment that changes', () => {
  const before = aSegment({
    description: 'Brave people',
    project: 'shop',
    constraints: normalizeSegment({ name: 'x', constraints: [constraint(2)] }, noRegex).constraints,
  });

  it('keeps omitted properties', () => {
    const { segment, events } = updateSegment(before, { name: 'brave' }, alone);
    expect(segment).toEqual({ ...before, name: 'brave' });
    expect(events).toEqual([{ type: 'segment-updated', project: 'shop', preData: before, data: segment }]);
  });

  it('loses properties that are set to null, and all constraints with an empty list', () => {
    expect(updateSegment(before, { description: null, constraints: [] }, alone).segment).toMatchObject({
      description: null,
      constraints: [],
    });
  });

  it('emits nothing when it stays the same', () => {
    expect(updateSegment(before, { name: before.name, project: 'shop', constraints: [constraint(2)] }, alone)).toEqual({
      segment: before,
      events: [],
    });
  });

  it('cannot get the name of another segment', () => {
    expect(refusalOf(() => updateSegment(before, { name: 'taken' }, { ...alone, idOfName: () => 99 }))).toMatchObject({
      kind: 'NameExistsError',
      message: 'Segment name already exists',
    });
    expect(() => updateSegment(before, { name: 'own' }, { ...alone, idOfName: () => before.id })).not.toThrow();
  });

  it('cannot move to a project while other projects use it', () => {
    const referrers = [
      { name: 'a', project: 'shop' },
      { name: 'b', project: 'garage' },
    ];
    const update = (project: string | null) =>
      updateSegment({ ...before, project: null }, { project }, { ...alone, referrers });
    expect(refusalOf(() => update('shop')).message).toContain(
      'Invalid project. Segment is being used by strategies in other projects: garage',
    );
    expect(() => update(null)).not.toThrow();
  });
});

describe('a request that replaces a segment', () => {
  const segment = aSegment({ project: 'shop', description: 'First users' });

  it('makes it global without a project, and keeps an omitted description', () => {
    const body = { name: 'beta', constraints: [] };
    expect(requestedContent(body, segment)).toEqual({ ...body, project: null, description: 'First users' });
    expect(requestedContent({ ...body, project: 'shop', description: null }, segment)).toEqual({
      ...body,
      project: 'shop',
      description: null,
    });
  });
});

describe('a segment that is deleted', () => {
  it('emits its previous state', () => {
    const segment = aSegment();
    expect(deleteSegment(segment, { referrers: [], hidden: [] })).toEqual({
      type: 'segment-deleted',
      project: null,
      preData: segment,
    });
  });

  it('must not be used by a strategy', () => {
    const refusal = refusalOf(() =>
      deleteSegment(aSegment(), { referrers: [{ name: 'checkout', project: 'shop' }], hidden: [] }),
    );
    expect(refusal).toMatchObject({ kind: 'ConflictError', message: 'Segment beta is in use by checkout' });
  });
});

describe('the segments of a strategy', () => {
  const ref = { environment: 'development', strategyId: 'one' };
  const before = aStrategy({ id: 'one', title: 'Half', segments: [1] });
  const other = aStrategy({ id: 'two', segments: [1], sortOrder: 1 });
  const feature = aFeature({ strategies: [before, other] });
  const segments = [
    aSegment({ id: 1 }),
    aSegment({ id: 2, name: 'ours', project: 'shop' }),
    aSegment({ id: 3, name: 'theirs', project: 'garage' }),
  ];
  const projectContext = someProjectContext({ segments: new Map(segments.map((segment) => [segment.id, segment])) });
  const set = (wanted: readonly number[]) => setStrategySegments(feature, ref, wanted, projectContext);

  it('the segments of a strategy are replaced; its other properties and other strategies stay', () => {
    const { feature: after } = set([2]);
    expect(strategyOf(after, ref)).toEqual({ ...before, segments: [2] });
    expect(strategyOf(after, { ...ref, strategyId: 'two' })).toEqual(other);
  });

  it('replaced segments are an update of the strategy in its environment', () => {
    expect(set([2, 1]).events).toMatchObject([
      {
        type: 'feature-strategy-update',
        environment: 'development',
        preData: { id: 'one', segments: [1] },
        data: { id: 'one', title: 'Half', segments: [2, 1] },
      },
    ]);
  });

  it('a segment that is named twice is used once', () => {
    expect(strategyOf(set([2, 2]).feature, ref).segments).toEqual([2]);
  });

  it('the same segments change and emit nothing', () => {
    expect(set([1])).toEqual({ feature, events: [] });
  });

  it.each<[string, readonly number[], object]>([
    ['that does not exist', [1, 9], { kind: 'NotFoundError', message: 'No segment exists with ID "9"' }],
    ['of another project', [1, 3], { details: [{ path: '/body/segmentIds/1' }] }],
  ])('a segment %s is refused', (_, wanted, expected) => {
    expect(refusalOf(() => set(wanted))).toMatchObject(expected);
  });

  it('more segments than a strategy may have are refused', () => {
    const tooMany = Array.from({ length: fixedResourceLimits.segmentsPerStrategy + 1 }, (_, index) => index);
    expect(refusalOf(() => set(tooMany))).toMatchObject({ details: [{ path: '/body/segmentIds' }] });
  });

  it('the segments of a strategy in another environment are not found', () => {
    const elsewhere = { environment: 'production', strategyId: 'one' };
    expect(refusalOf(() => setStrategySegments(feature, elsewhere, [2], projectContext)).kind).toBe('NotFoundError');
  });
});
