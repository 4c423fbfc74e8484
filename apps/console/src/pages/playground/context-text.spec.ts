import { describe, expect, it } from 'vitest';
import { contextLine, parseContext, contextSuggestionsAt } from './context-text.ts';

describe('the text of a context', () => {
  it('has names and values, in quotes where a value has blanks, and with commas between alternatives', () => {
    expect(parseContext('userId=a,b  region=eu plan="pro plus"')).toEqual({
      context: { userId: 'a,b', region: 'eu', plan: 'pro plus' },
      errors: [],
    });
    expect(contextLine({ userId: 'a', plan: 'pro plus' })).toBe('userId=a plan="pro plus"');
  });

  it('says which part is no name with a value, and reads the rest', () => {
    const { context, errors } = parseContext('userId=a b region= userId=c =x');
    expect(context).toEqual({ userId: 'a' });
    expect(errors.map(({ token }) => token)).toEqual(['b', 'region=', 'userId=c', '=x']);
  });

  it('takes a name like those of JavaScript as any other', () => {
    expect(Object.entries(parseContext('__proto__=x constructor=y').context)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  it('is completed with the names of fields that are not given yet, and with their legal values', () => {
    const fields = [
      { name: 'region', legalValues: ['eu', 'us', 'far east'] },
      { name: 'userId', legalValues: [] },
    ];
    const texts = (line: string, caret = line.length) =>
      contextSuggestionsAt(line, caret, fields).map(({ filter }) => filter);
    expect(texts('')).toEqual(['region=', 'userId=']);
    expect(texts('userId=a r')).toEqual(['userId=a region=']);
    expect(texts('region=eu,')).toEqual(['region=eu,eu', 'region=eu,us', 'region=eu,"far east"']);
    expect(texts('region=u userId=a', 8)).toEqual(['region=eu userId=a', 'region=us userId=a']);
    expect(texts('userId=')).toEqual([]);
  });
});
