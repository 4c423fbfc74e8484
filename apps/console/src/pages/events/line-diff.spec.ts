import { describe, expect, it } from 'vitest';
import { lineDiff } from './line-diff.ts';

const marks = { same: ' ', removed: '-', added: '+' } as const;
function shown(before: string, after: string): string[] {
  return lineDiff(before, after).map(({ kind, text }) => `${marks[kind]}${text}`);
}

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
