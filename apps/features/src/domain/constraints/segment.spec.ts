import type { Constraint } from '@bunting/contracts';
import { describe, expect, it } from '@jest/globals';
import { aFeature, aSegment, aStrategy } from '../../../test/builders.ts';
import { refusalOf } from '../../../test/refusal-of.ts';
import {
  deleteSegment,
  isUsedBy,
  type SegmentUsage,
  segmentCreated,
  updateSegment,
  validateSegment,
} from './segment.ts';

const constraint = (count: number): Constraint => ({
  contextName: 'anything',
  operator: 'IN',
  values: Array.from({ length: count }, (_, nth) => String(nth)),
});
const alone: SegmentUsage = { users: [], idOfName: () => undefined };

describe('a segment', () => {
  it('is stored with its constraints in their normal form, whatever context field they name', () => {
    expect(
      validateSegment({ name: 'beta', constraints: [{ contextName: 'anything', operator: 'NUM_GT', value: '5' }] }),
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
    expect(validateSegment({ name: 'beta', constraints: [constraint(400), constraint(600)] }).constraints).toHaveLength(
      2,
    );
    const refusal = refusalOf(() => validateSegment({ name: 'beta', constraints: [constraint(400), constraint(601)] }));
    expect(refusal).toMatchObject({ kind: 'ValidationError', details: [{ path: '/body/constraints' }] });
    expect(refusal.message).toContain('Segments may not have more than 1000 values');
  });

  it.each<[string, string, Constraint[], string]>([
    ['a blank name', '  ', [], '/body/name'],
    ['a bad constraint', 'beta', [constraint(1), constraint(0)], '/body/constraints/1/values'],
  ])('is refused with %s', (_, name, constraints, path) => {
    expect(refusalOf(() => validateSegment({ name, constraints })).details[0]?.path).toBe(path);
  });

  it('is told when it is created', () => {
    const segment = aSegment({ project: 'shop' });
    expect(segmentCreated(segment)).toEqual({ type: 'segment-created', project: 'shop', data: segment });
  });

  it('is used by a feature with one of its strategies in any environment', () => {
    const environments = { production: { enabled: false, strategies: [aStrategy({ segments: [4] })], variants: [] } };
    expect(isUsedBy(aFeature({ environments }), 4)).toBe(true);
    expect(isUsedBy(aFeature({ environments }), 5)).toBe(false);
  });
});

describe('a segment that changes', () => {
  const before = aSegment({
    description: 'Brave people',
    project: 'shop',
    constraints: validateSegment({ name: 'x', constraints: [constraint(2)] }).constraints,
  });

  it('keeps what is left out', () => {
    const { segment, events } = updateSegment(before, { name: 'brave' }, alone);
    expect(segment).toEqual({ ...before, name: 'brave' });
    expect(events).toEqual([{ type: 'segment-updated', project: 'shop', preData: before, data: segment }]);
  });

  it('loses what is set to null, and all its constraints if that is said', () => {
    expect(updateSegment(before, { description: null, constraints: [] }, alone).segment).toMatchObject({
      description: null,
      constraints: [],
    });
  });

  it('is not told when it stays the same', () => {
    expect(updateSegment(before, { name: before.name, project: 'shop', constraints: [constraint(2)] }, alone)).toEqual({
      segment: before,
      events: [],
    });
  });

  it('cannot take the name of another', () => {
    expect(refusalOf(() => updateSegment(before, { name: 'taken' }, { ...alone, idOfName: () => 99 }))).toMatchObject({
      kind: 'NameExistsError',
      message: 'Segment name already exists',
    });
    expect(() => updateSegment(before, { name: 'own' }, { ...alone, idOfName: () => before.id })).not.toThrow();
  });

  it('cannot go to a project while others use it', () => {
    const users = [
      { name: 'a', project: 'shop' },
      { name: 'b', project: 'garage' },
    ];
    const update = (project: string | null) =>
      updateSegment({ ...before, project: null }, { project }, { ...alone, users });
    expect(refusalOf(() => update('shop')).message).toContain(
      'Invalid project. Segment is being used by strategies in other projects: garage',
    );
    expect(() => update(null)).not.toThrow();
  });
});

describe('a segment that is deleted', () => {
  it('is told as it was', () => {
    const segment = aSegment();
    expect(deleteSegment(segment, { users: [] })).toEqual({
      segment: null,
      events: [{ type: 'segment-deleted', project: null, preData: segment }],
    });
  });

  it('is used by nobody', () => {
    const refusal = refusalOf(() => deleteSegment(aSegment(), { users: [{ name: 'checkout', project: 'shop' }] }));
    expect(refusal).toMatchObject({ kind: 'ConflictError', message: 'Segment beta is in use by checkout' });
  });
});
