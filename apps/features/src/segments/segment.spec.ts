import type { Constraint } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aFeature, aSegment, aStrategy } from '../../test/builders.ts';
import { refusalOf } from '../../test/refusal-of.ts';
import {
  deleteSegment,
  requestedContent,
  usesSegment,
  type SegmentUpdateContext,
  segmentCreated,
  updateSegment,
  normalizeSegment,
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
    const refusal = refusalOf(() =>
      normalizeSegment({ name: 'beta', constraints: [constraint(400), constraint(601)] }, noRegex),
    );
    expect(refusal).toMatchObject({ kind: 'ValidationError', details: [{ path: '/body/constraints' }] });
    expect(refusal.message).toContain('Segments may not have more than 1000 values');
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
