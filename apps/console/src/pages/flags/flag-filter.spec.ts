import { describe, expect, it } from 'vitest';
import { withoutChip } from '../../filtering/filter-tokens.ts';
import { readFlagFilter, flagSuggestions } from './flag-filter.ts';

const now = new Date('2026-11-22T10:00:00Z');
const environments = ['development', 'production'];
function read(filter: string) {
  const { query, errors } = readFlagFilter(filter, environments, { now, timeZone: 'Europe/Oslo' });
  return { query, errors };
}

describe('a filter of flags', () => {
  it('reads keys as parameters of the search, and other words as its text', () => {
    expect(
      read('type:release,experiment tag:team:web production:on seen:<7d state:stale archived:true  check out'),
    ).toEqual({
      query: {
        type: 'IS_ANY_OF:release,experiment',
        tag: 'INCLUDE_ANY_OF:team:web',
        status: ['production:enabled'],
        lastSeenAt: 'IS_ON_OR_AFTER:2026-11-15',
        timeZone: 'Europe/Oslo',
        state: 'IS:stale',
        archived: 'true',
        query: 'check out',
        fuzzy: 'true',
      },
      errors: [],
    });
  });

  it('excludes with a minus, asks for all of several tags, and holds blanks together with quotes', () => {
    expect(read('-type:release tag:a:b tag:"team:two words" -project:x,y owner:anna favourite:true').query).toEqual({
      type: 'IS_NONE_OF:release',
      tag: 'INCLUDE_ALL_OF:a:b,team:two words',
      project: 'IS_NONE_OF:x,y',
      createdBy: 'IS_ANY_OF:anna',
      favorite: 'true',
    });
    expect(read('"type:release" a').query).toEqual({ query: 'type:release a' });
  });

  it('finds flags for which all of it holds where it names several environments', () => {
    expect(read('production:on,off')).toEqual({
      query: { status: ['production:enabled', 'production:disabled'] },
      errors: [],
    });
    expect(read('production:partial,all archived:false development:off')).toEqual({
      query: {
        status: ['production:partial', 'production:all', 'development:disabled'],
        everyEnvironment: 'true',
        archived: 'false',
      },
      errors: [],
    });
  });

  it('forgives typing errors of words, but not where one is quoted or the text is too long', () => {
    expect(read('chekcout').query).toEqual({ query: 'chekcout', fuzzy: 'true' });
    expect(read('"chekcout"').query).toEqual({ query: 'chekcout' });
    expect(read('x'.repeat(101)).query).not.toHaveProperty('fuzzy');
  });

  it('searches descriptions by a key, since words are searched in names and tags', () => {
    expect(read('description:"dark mode" ui').query).toEqual({
      description: 'CONTAINS:dark mode',
      query: 'ui',
      fuzzy: 'true',
    });
    expect(read('-description:dark').errors).toMatchObject([{ reason: 'write description:text' }]);
  });

  it('finds flags by the stage of their life', () => {
    expect(read('stage:live,completed').query).toEqual({ lifecycle: 'IS_ANY_OF:live,completed' });
    expect(read('-stage:initial').query).toEqual({ lifecycle: 'IS_NONE_OF:initial' });
    expect(read('stage:dead').errors).toEqual([
      { token: 'stage:dead', reason: 'write initial, pre-live, live, completed or archived' },
    ]);
  });

  it('reads days that are counted back and days of the calendar', () => {
    expect(read('created:>4w').query).toEqual({ createdAt: 'IS_BEFORE:2026-10-25', timeZone: 'Europe/Oslo' });
    expect(read('created:>2026-01-31 seen:<2026-02-01').query).toEqual({
      createdAt: 'IS_ON_OR_AFTER:2026-01-31',
      lastSeenAt: 'IS_BEFORE:2026-02-01',
      timeZone: 'Europe/Oslo',
    });
  });

  it.each([
    ['type:', 'a value is missing'],
    ['colour:red', 'colour is not a filter key; put it into quotes to search for the text'],
    ['production:maybe', 'write production:on, off, all, partial or none'],
    ['production:toString', 'write production:on, off, all, partial or none'],
    ['production:on production:partial', 'write the states of production once, with commas between them'],
    ['tag:web', 'write tag:type:value'],
    ['seen:yesterday', 'write <7d, >4w, or >2026-01-31'],
    ['created:<2026-02-99', 'write <7d, >4w, or >2026-01-31'],
    ['seen:<99999y', 'write <7d, >4w, or >2026-01-31'],
    ['state:old', 'write active or stale'],
    ['state:stale state:active', 'it is given already'],
    ['seen:<7d seen:>30d', 'it is bounded already'],
    ...['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf'].map((name) => [
      `${name}:x`,
      `${name} is not a filter key; put it into quotes to search for the text`,
    ]),
    ['type:a -type:b', 'type cannot both include and exclude'],
  ])('says what is wrong with %s, and still filters by the rest', (filter, reason) => {
    const { query, errors } = read(`${filter} archived:true`);
    expect(errors.map((error) => error.reason)).toEqual([reason]);
    expect(query).toMatchObject({ archived: 'true' });
  });

  it('never throws, whatever is typed', () => {
    for (const text of [
      '"',
      ':',
      '-',
      '::',
      '-:',
      'tag:',
      '"type:',
      'a:b:c:',
      '\u202eabc',
      ',,,',
      'type:,',
      'é:1',
      '__proto__:',
      'toString:x',
    ]) {
      expect(() => read(text)).not.toThrow();
      expect(() =>
        flagSuggestions(text, text.length, { environments, types: [], projects: [], tags: [], segments: [] }),
      ).not.toThrow();
    }
  });
});

describe('the parts of a filter', () => {
  const chipsOf = (filter: string) =>
    readFlagFilter(filter, environments, { now, timeZone: 'Europe/Oslo' }).chips.map(({ label }) => label);

  it.each([
    ['production:partial development:off,none', ['production: partial', 'development: off or none']],
    ['tag:team:web', ['tag team:web']],
    ['-tag:a:b,c:d', ['not tag a:b or c:d']],
    ['tag:a:b,c:d tag:e:f segment:x,y', ['tag a:b and c:d', 'tag e:f', 'segment x and y']],
    ['tag:a:b,c:d -segment:x,y', ['tag a:b or c:d', 'not segment x or y']],
    ['type:release,experiment -project:shop', ['type release or experiment', 'not project shop']],
    ['type:a -project:x type:b,a -project:y', ['type a or b', 'not project x', 'not project y']],
    ['owner:anna description:"dark mode"', ['created by anna', 'description contains dark mode']],
    ['state:stale archived:true favourite:false', ['stale', 'archived', 'not favourite']],
    ['created:>4w seen:<1d', ['created more than 4 weeks ago', 'last seen in the last day']],
    ['checkout "type:release" type: colour:red production:maybe', []],
    ['production:on production:on', ['production: on']],
  ])('%s are in words %j', (filter, words) => {
    expect(chipsOf(filter)).toEqual(words);
  });

  it('name a day as the reader writes it', () => {
    const day = new Intl.DateTimeFormat(undefined, { numberingSystem: 'latn', dateStyle: 'medium' }).format(
      new Date(2026, 0, 31),
    );
    expect(chipsOf('created:>2026-01-31 seen:<2026-01-31')).toEqual([
      `created since ${day}`,
      `last seen before ${day}`,
    ]);
  });

  it('can be taken out of the text, which stays as it was typed', () => {
    const filter = ' check  tag:"team:two words" type:a  out production:on type:b ';
    const { chips } = readFlagFilter(filter, environments);
    expect(chips.map((chip) => withoutChip(filter, chip))).toEqual([
      'check type:a  out production:on type:b',
      'check  tag:"team:two words" out production:on',
      'check  tag:"team:two words" type:a  out type:b',
    ]);
  });
});

describe('the completion of a filter', () => {
  const vocabulary = {
    environments,
    types: ['release', 'kill-switch'],
    projects: ['default'],
    tags: ['team:web', 'team:two words'],
    segments: [],
  };
  const labels = (filter: string, caret = filter.length) =>
    flagSuggestions(filter, caret, vocabulary).map(({ label }) => label);

  it('offers keys, then the values of a key, where the caret is', () => {
    expect(labels('ty')).toEqual(['type:']);
    expect(labels('prod')).toEqual(['production:']);
    expect(labels('production:')).toEqual(
      ['on', 'off', 'all', 'partial', 'none'].map((state) => `production:${state}`),
    );
    expect(labels('type:rel x', 8)).toEqual(['type:release']);
    expect(labels('-type:release,k')).toEqual(['-type:release,kill-switch']);
    expect(labels('type:release')).toEqual([]);
  });

  it('offers the values that most flags have first, with how many these are', () => {
    const counts = { type: new Map([['kill-switch', 3]]), toString: new Map() };
    const counted = flagSuggestions('type:', 5, { ...vocabulary, counts });
    expect(counted.map(({ label, count }) => [label, count])).toEqual([
      ['type:kill-switch', 3],
      ['type:release', undefined],
    ]);
  });

  it('puts the value in place of what is typed, in quotes where it has blanks', () => {
    expect(flagSuggestions('a tag:two b', 9, vocabulary)).toEqual([
      { label: 'tag:"team:two words"', filter: 'a tag:"team:two words"  b', caret: 23 },
    ]);
  });
});
