import { describe, expect, it } from 'vitest';
import { fieldChanges, lineDiff } from './field-changes.ts';

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

const marks = { same: ' ', removed: '-', added: '+' } as const;
const shown = (before: string, after: string): string[] =>
  lineDiff(before, after).map(({ kind, text }) => `${marks[kind]}${text}`);

describe('the difference of two texts by line', () => {
  it('keeps what both have, and puts removed lines before those that replace them', () => {
    expect(shown('a\nb\nc\nd', 'a\nx\nc\nd\ne')).toEqual([' a', '-b', '+x', ' c', ' d', '+e']);
    expect(shown('a\nb\nc', 'b\nc\na')).toEqual(['-a', ' b', ' c', '+a']);
  });

  it('is nothing for the same text, and all of it where nothing is the same', () => {
    expect(shown('a\nb', 'a\nb')).toEqual([' a', ' b']);
    expect(shown('a\nb', 'x')).toEqual(['-a', '-b', '+x']);
  });

  it('says all lines of both texts, also where they are too long to be compared', () => {
    const [before, after] = ['a', 'b'].map((letter) => Array.from({ length: 3_000 }, (_one, n) => `${letter}${n}`));
    const found = lineDiff(before?.join('\n') ?? '', after?.join('\n') ?? '');
    expect(found.filter(({ kind }) => kind === 'removed').map(({ text }) => text)).toEqual(before);
    expect(found.filter(({ kind }) => kind === 'added').map(({ text }) => text)).toEqual(after);
  });
});
