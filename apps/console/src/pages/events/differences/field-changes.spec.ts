import { describe, expect, it } from 'vitest';
import { fieldChanges } from './field-changes.ts';

describe('the fields that differ', () => {
  it('are named by the way to them, through objects and through lists of named items', () => {
    const before = { title: 'a', parameters: { rollout: '10', groupId: 'g' }, variants: [{ name: 'x', weight: 1 }] };
    const after = { title: 'a', parameters: { rollout: '20', groupId: 'g' }, variants: [{ name: 'x', weight: 2 }] };
    expect(fieldChanges(before, after)).toEqual([
      { path: ['parameters', 'rollout'], before: '10', after: '20' },
      { path: ['variants', 'x', 'weight'], before: 1, after: 2 },
    ]);
  });

  it('are all fields of what was created or deleted', () => {
    expect(fieldChanges(null, { name: 'x', tags: [] })).toEqual([
      { path: ['name'], before: undefined, after: 'x' },
      { path: ['tags'], before: undefined, after: [] },
    ]);
    expect(fieldChanges({ name: 'x' }, undefined)).toEqual([{ path: ['name'], before: 'x', after: undefined }]);
    expect(fieldChanges(null, null)).toEqual([]);
  });

  it('are whole lists where items have no names, and whole items that were added', () => {
    expect(fieldChanges({ values: ['a'] }, { values: ['a', 'b'] })).toEqual([
      { path: ['values'], before: ['a'], after: ['a', 'b'] },
    ]);
    expect(fieldChanges({ variants: [] }, { variants: [{ name: 'x' }] })).toEqual([
      { path: ['variants', 'x'], before: undefined, after: { name: 'x' } },
    ]);
  });

  it('say that only the order differs', () => {
    const [one, two] = [{ id: '1' }, { id: '2' }];
    expect(fieldChanges({ items: [one, two] }, { items: [two, one] })).toEqual([
      { path: ['items'], before: ['1', '2'], after: ['2', '1'] },
    ]);
  });

  it('distinguish null from a value that is absent below the root', () => {
    expect(fieldChanges({ title: null }, { title: 'x' })).toEqual([{ path: ['title'], before: null, after: 'x' }]);
  });
});
