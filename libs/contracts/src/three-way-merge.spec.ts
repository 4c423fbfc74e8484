import { describe, expect, it } from 'vitest';
import { fieldChanges, type Json, resolveConflicts, threeWayMerge } from './three-way-merge.ts';

const base = {
  title: 'Norway first',
  parameters: { rollout: '25', stickiness: 'userId' },
  segments: [1, 2],
  variants: [
    { name: 'red', weight: 500 },
    { name: 'blue', weight: 500 },
  ],
};

describe('merging two changes of the same strategy', () => {
  it('takes both where they changed different fields, at any depth', () => {
    const mine = { ...base, parameters: { rollout: '50', stickiness: 'userId' } };
    const theirs = { ...base, title: 'Norway', parameters: { rollout: '25', stickiness: 'sessionId' } };
    expect(threeWayMerge(base, mine, theirs)).toEqual({
      merged: { ...base, title: 'Norway', parameters: { rollout: '50', stickiness: 'sessionId' } },
      conflicts: [],
    });
  });

  it('keeps mine and names the field where both changed the same one differently', () => {
    const { merged, conflicts } = threeWayMerge(
      base,
      { ...base, parameters: { ...base.parameters, rollout: '50' } },
      { ...base, parameters: { ...base.parameters, rollout: '75' } },
    );
    expect(merged).toMatchObject({ parameters: { rollout: '50' } });
    expect(conflicts).toEqual([{ path: ['parameters', 'rollout'], base: '25', mine: '50', theirs: '75' }]);
  });

  it('has no conflict where both made the same change', () => {
    const both = { ...base, title: 'Sweden first' };
    expect(threeWayMerge(base, both, structuredClone(both))).toEqual({ merged: both, conflicts: [] });
  });

  it('matches items of lists by name: one changed, one added and one removed', () => {
    const mine = { ...base, variants: [{ name: 'red', weight: 600 }, base.variants[1] as Json] };
    const theirs = { ...base, variants: [base.variants[0] as Json, { name: 'green', weight: 100 }] };
    expect(threeWayMerge(base, mine as Json, theirs as Json)).toEqual({
      merged: {
        ...base,
        variants: [
          { name: 'red', weight: 600 },
          { name: 'green', weight: 100 },
        ],
      },
      conflicts: [],
    });
  });

  it('reports an item that one removed and the other changed', () => {
    const mine = { ...base, variants: [base.variants[1] as Json] };
    const theirs = { ...base, variants: [{ name: 'red', weight: 1 }, base.variants[1] as Json] };
    expect(threeWayMerge(base, mine as Json, theirs as Json).conflicts).toEqual([
      {
        path: ['variants', 'red'],
        base: { name: 'red', weight: 500 },
        mine: undefined,
        theirs: { name: 'red', weight: 1 },
      },
    ]);
  });

  it('keeps an order that one of them changed', () => {
    const [red, blue] = base.variants as unknown as [Json, Json];
    const green = { name: 'green', weight: 0 };
    expect(threeWayMerge({ v: [red, blue] }, { v: [blue, red] }, { v: [red, blue, green] }).merged).toEqual({
      v: [blue, green, red],
    });
    expect(threeWayMerge({ v: [red, blue] }, { v: [red, blue, green] }, { v: [blue, red] }).merged).toEqual({
      v: [blue, green, red],
    });
  });

  it('takes a list of plain values as one field', () => {
    expect(threeWayMerge(base, { ...base, segments: [1] }, { ...base, segments: [1, 2, 3] })).toEqual({
      merged: { ...base, segments: [1] },
      conflicts: [{ path: ['segments'], base: [1, 2], mine: [1], theirs: [1, 2, 3] }],
    });
  });

  it('treats a removed field as a change, and names like __proto__ as any other', () => {
    const { title: _, ...untitled } = base;
    expect(threeWayMerge(base, untitled, base)).toEqual({ merged: untitled, conflicts: [] });
    const hostile = JSON.parse('{"__proto__": {"polluted": true}}') as Json;
    expect(Object.keys(threeWayMerge({}, {}, hostile).merged as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('the choices in conflicts', () => {
  it('take the other side of a field, of an item of a list, and of one that was removed', () => {
    const mine = { ...base, title: 'Mine', variants: [base.variants[1] as Json] };
    const theirs = { ...base, title: 'Theirs', variants: [{ name: 'red', weight: 1 }, base.variants[1] as Json] };
    const { merged, conflicts } = threeWayMerge(base, mine as Json, theirs as Json);
    expect(conflicts.map(({ path }) => path)).toEqual([['title'], ['variants', 'red']]);
    expect(resolveConflicts(merged as Json, conflicts, ['theirs', 'mine'])).toMatchObject({
      title: 'Theirs',
      variants: [{ name: 'blue' }],
    });
    const { variants } = resolveConflicts(merged as Json, conflicts, ['mine', 'theirs']) as { variants: Json[] };
    expect(variants).toEqual(expect.arrayContaining([{ name: 'red', weight: 1 }]));
  });
});

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
