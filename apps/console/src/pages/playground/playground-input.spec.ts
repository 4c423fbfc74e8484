import { describe, expect, it } from 'vitest';
import {
  contextLine,
  contextSuggestionsAt,
  countChangedResults,
  leavesFlagsOut,
  parseContext,
  playgroundInputOf,
  playgroundTableBody,
} from './playground-input.ts';

const enabled = ['development', 'test', 'production'];
const everything = playgroundInputOf({}, enabled);

describe('the input of the playground', () => {
  it('is every enabled environment and every project until the URL names some', () => {
    expect(everything).toEqual({
      environments: enabled,
      projects: [],
      flag: undefined,
      changeRequest: undefined,
      onlyConcerned: true,
    });
  });

  it.each([
    ['the environments that exist and are enabled', { environments: 'test,moon' }, { environments: ['test'] }],
    ['no environment where the URL names none', { environments: '' }, { environments: [] }],
    ['several projects', { projects: 'shop,,bank' }, { projects: ['shop', 'bank'] }],
    ['one flag', { flag: 'checkout' }, { flag: 'checkout' }],
    ['a change request by its id', { changeRequest: '12' }, { changeRequest: 12 }],
    ['no change request where its id is none', { changeRequest: '0x1' }, { changeRequest: undefined }],
    ['also the flags that the change request does not concern', { concerned: 'false' }, { onlyConcerned: false }],
  ])('is %s', (_, search, chosen) => {
    expect(playgroundInputOf(search, enabled)).toMatchObject(chosen);
  });
});

describe('the flags of an input', () => {
  it('are all of them until some are chosen', () => {
    expect(leavesFlagsOut(everything, ' ')).toBe(false);
    expect(leavesFlagsOut({ ...everything, changeRequest: 12, onlyConcerned: false }, '')).toBe(false);
  });

  it.each([
    ['have a text in their names', {}, 'shop'],
    ['are of some projects', { projects: ['shop'] }, ''],
    ['are one', { flag: 'checkout' }, ''],
    ['are concerned by a change request', { changeRequest: 12 }, ''],
  ])('are some of them where they %s', (_, chosen, query) => {
    expect(leavesFlagsOut({ ...everything, ...chosen }, query)).toBe(true);
  });
});

describe('the evaluation of an input', () => {
  it('is for the empty context where no line has one, and leaves out what is not limited', () => {
    expect(playgroundTableBody(everything, '  ', '\n\n')).toEqual({ environments: enabled, contexts: [{}] });
  });

  it('is for at most fifty lines of contexts, and flags that match at most a hundred characters', () => {
    const lines = Array.from({ length: 51 }, (_, nth) => `userId=${nth}`).join('\n');
    const body = playgroundTableBody(everything, 'x'.repeat(101), lines);
    expect(body.contexts).toHaveLength(50);
    expect(body.query).toHaveLength(100);
  });

  it('compares with a change request the flags that it concerns, but a flag that is chosen in any case', () => {
    const compared = { ...everything, changeRequest: 12 };
    expect(playgroundTableBody(compared, '', '')).toMatchObject({ changeRequest: 12, onlyConcerned: true });
    expect(playgroundTableBody({ ...compared, flag: 'checkout' }, '', '')).toMatchObject({
      features: ['checkout'],
      changeRequest: 12,
      onlyConcerned: false,
    });
  });
});

it('counts the results that a change request changes, in all environments and contexts', () => {
  const [same, changed] = [{ isEnabled: true }, { isEnabled: true, proposed: { isEnabled: false } }];
  const flags = [
    { environments: { development: [same, changed], production: [changed] } },
    { environments: { development: [same], production: [] } },
  ];
  expect(countChangedResults(flags)).toBe(2);
});

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
