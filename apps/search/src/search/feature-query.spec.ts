import { describe, expect, it } from 'vitest';
import { Refusal, SearchFeatures } from '@bunting/contracts';
import fc from 'fast-check';
import { parseFeatureQuery } from './feature-query.ts';

type Asked = Parameters<typeof parseFeatureQuery>[0];
type Parameter = keyof Asked;

function understood(parameter: Parameter, text: string): ReturnType<typeof parseFeatureQuery> {
  return parseFeatureQuery({ [parameter]: parameter === 'status' ? [text] : text });
}

/** The refusal of a parameter; undefined when it was understood. Anything else that is thrown fails the test. */
function refusalOf(parameter: Parameter, text: string): Refusal | undefined {
  try {
    understood(parameter, text);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

const parameters = Object.keys(SearchFeatures.query.properties) as Parameter[];

describe('a query', () => {
  it('defaults to unarchived features, oldest first, in pages of fifty', () => {
    expect(parseFeatureQuery({})).toMatchObject({
      texts: [],
      fuzzy: false,
      archived: false,
      sort: { by: 'createdAt', descending: false },
      favoritesFirst: false,
      offset: 0,
      limit: 50,
    });
  });

  it.each([
    ['IS', false],
    ['IS_NOT', true],
    ['IS_ANY_OF', false],
    ['IS_NONE_OF', true],
  ])('parses %s with one value and with several', (operator, isNot) => {
    expect(understood('project', `${operator}:shop`).project).toEqual({ isNot, values: ['shop'] });
    expect(understood('type', `${operator}:a, b,a ,c:d`).type).toEqual({ isNot, values: ['a', 'b', 'c:d'] });
  });

  it.each([
    ['INCLUDE', 'any'],
    ['DO_NOT_INCLUDE', 'none'],
    ['INCLUDE_ALL_OF', 'all'],
    ['INCLUDE_ANY_OF', 'any'],
    ['EXCLUDE_IF_ANY_OF', 'none'],
    ['EXCLUDE_ALL', 'not all'],
  ])('parses %s of tags and of segments without duplicates', (operator, mode) => {
    expect(understood('tag', `${operator}:simple:a,  team:b:c,simple:a`).tag).toEqual({
      mode,
      values: ['simple:a', 'team:b:c'],
    });
    expect(understood('segment', `${operator}:beta users, beta users,x:y`).segment).toEqual({
      mode,
      values: ['beta users', 'x:y'],
    });
  });

  it('treats a comma that no tag follows as part of the tag before it', () => {
    expect(understood('tag', 'INCLUDE:simple:a,b, c,simple:d').tag?.values).toEqual(['simple:a,b, c', 'simple:d']);
  });

  it.each([
    ['project', 'IS'],
    ['state', 'IS_NOT'],
    ['lifecycle', 'IS'],
    ['type', 'IS_ANY_OF'],
    ['createdBy', 'IS_NONE_OF'],
    ['segment', 'INCLUDE'],
    ['segment', 'EXCLUDE_ALL'],
    ['description', 'CONTAINS'],
  ] as const)('has no filter by %s where %s lists no value', (parameter, operator) => {
    for (const list of ['', ' ', ',', ' , ,']) {
      expect(understood(parameter, `${operator}:${list}`)).toEqual(parseFeatureQuery({}));
    }
  });

  it('passes over empty values beside others', () => {
    expect(understood('project', 'IS_ANY_OF:a,, b,').project?.values).toEqual(['a', 'b']);
    expect(understood('segment', 'INCLUDE_ALL_OF:,a').segment?.values).toEqual(['a']);
    expect(understood('tag', 'INCLUDE:simple:a,, simple:b').tag?.values).toEqual(['simple:a,', 'simple:b']);
  });

  it('parses the state of staleness', () => {
    expect(understood('state', 'IS:active').stale).toEqual([false]);
    expect(understood('state', 'IS_NOT:active').stale).toEqual([true]);
    expect(understood('state', 'IS_ANY_OF:active,stale').stale).toEqual([false, true]);
    expect(understood('state', 'IS_NONE_OF:active,stale').stale).toEqual([]);
  });

  it('parses stages of the lifecycle, of which that of archived features alone finds these', () => {
    const parsed = (text: string, archived?: string) => {
      const query = parseFeatureQuery({ lifecycle: text, ...(archived === undefined ? {} : { archived }) });
      return { stages: query.stages, archived: query.archived };
    };
    expect(parsed('IS:live')).toEqual({ stages: ['live'], archived: false });
    expect(parsed('IS_NONE_OF:live, archived')).toEqual({
      stages: ['initial', 'pre-live', 'completed'],
      archived: false,
    });
    expect(parsed('IS:archived')).toEqual({ stages: ['archived'], archived: true });
    expect(parsed('IS_ANY_OF:archived,live')).toEqual({ stages: ['live', 'archived'], archived: undefined });
    expect(parsed('IS_ANY_OF:archived,live', 'false')).toEqual({ stages: ['live', 'archived'], archived: false });
    expect(parsed('IS_NOT:live', 'true').archived).toBe(true);
  });

  it('distinguishes ids of creators from names', () => {
    expect(understood('createdBy', 'IS:-42,Mia,7,0x7,99999999999999999999').createdBy).toEqual({
      isNot: false,
      ids: [-42, 7],
      names: ['Mia', '0x7', '99999999999999999999'],
    });
  });

  it('parses a day as its midnight in UTC, or in the time zone of the reader', () => {
    const midnight = new Date('2024-02-29T00:00:00.000Z');
    expect(understood('createdAt', 'IS_BEFORE:2024-02-29').created).toEqual({ before: true, midnight });
    expect(understood('createdAt', 'IS_ON_OR_AFTER:2024-02-29').created).toEqual({ before: false, midnight });
    expect(understood('lastSeenAt', 'IS_BEFORE:2024-02-29').lastSeen).toEqual({ before: true, midnight });
    const inKolkata = { createdAt: 'IS_BEFORE:2024-02-29', timeZone: 'Asia/Kolkata' };
    expect(parseFeatureQuery(inKolkata).created?.midnight).toEqual(new Date('2024-02-28T18:30:00.000Z'));
  });

  it('searches each text of a description, case-folded and trimmed', () => {
    expect(understood('description', 'CONTAINS:Dark Mode, ÄRGER,100%,dark mode').description).toEqual([
      'dark mode',
      'ärger',
      '100%',
    ]);
  });

  it('searches each text between commas, case-folded and trimmed', () => {
    expect(understood('query', ' Dark Mode ,,ÄRGER,100%,dark mode').texts).toEqual(['dark mode', 'ärger', '100%']);
    expect(understood('query', ' , ').texts).toEqual([]);
  });

  it.each([
    ['name', 'name'],
    ['stale', 'stale'],
    ['environment:eu.prod', { environment: 'eu.prod', key: 'enabled' }],
    ['environment:name', { environment: 'name', key: 'enabled' }],
    ['reach:eu.prod', { environment: 'eu.prod', key: 'reach' }],
  ])('sorts by the requested key: %s', (text, by) => {
    expect(parseFeatureQuery({ sortBy: text, sortOrder: 'desc' }).sort).toEqual({ by, descending: true });
  });

  it('sorts by relevance only a fuzzy query without a requested order', () => {
    expect(parseFeatureQuery({ query: 'dark', fuzzy: 'true' }).sort).toBe('relevance');
    expect(parseFeatureQuery({ query: 'dark', fuzzy: 'true', sortBy: 'name' }).sort).toMatchObject({ by: 'name' });
    expect(parseFeatureQuery({ query: ' ', fuzzy: 'true' }).sort).toMatchObject({ by: 'createdAt' });
    expect(parseFeatureQuery({ query: 'dark', fuzzy: 'false' }).sort).toMatchObject({ by: 'createdAt' });
  });

  it('accepts an offset of any size', () => {
    expect(understood('offset', '90000').offset).toBe(90_000);
    expect(understood('offset', '9'.repeat(400)).offset).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([
    ['true', true],
    ['IS:true', true],
    ['false', false],
    ['IS:false', false],
  ])('takes archived, favorite and fuzzy with and without an operator: %s', (text, value) => {
    expect(understood('archived', text).archived).toBe(value);
    expect(understood('favorite', text).favorite).toBe(value);
    expect(understood('fuzzy', text).fuzzy).toBe(value);
  });

  it('takes a list of values of favorite, of which both together are no filter', () => {
    expect(understood('favorite', 'IS_ANY_OF:true').favorite).toBe(true);
    expect(understood('favorite', 'IS_ANY_OF:false, false').favorite).toBe(false);
    expect(understood('favorite', 'IS_ANY_OF:true,false').favorite).toBeUndefined();
  });

  it.each(['', 'Name', 'created_at', 'environment:', 'reach:', 'environment', 'name; drop table feature_document'])(
    'is in the order of creation when the property to sort by is unknown: %s',
    (sortBy) => {
      expect(parseFeatureQuery({ sortBy, sortOrder: 'desc' }).sort).toEqual({ by: 'createdAt', descending: true });
    },
  );

  it('has favourites first only when that is true', () => {
    for (const text of ['true', 'IS:true']) expect(understood('favoritesFirst', text).favoritesFirst).toBe(true);
    for (const text of ['', 'false', '1', 'TRUE'])
      expect(understood('favoritesFirst', text).favoritesFirst).toBe(false);
  });

  it('ignores what is no status beside a valid one', () => {
    const status = ['default:wrongStatus', 'production:enabled', ':enabled', 'production:enabled', 'x'];
    expect(parseFeatureQuery({ status }).status).toEqual([['production:enabled']]);
  });

  it('takes statuses as alternatives, and where every environment is asked for only those of the same one', () => {
    const status = ['production:partial', 'staging:disabled', 'production:all'];
    for (const everyEnvironment of [undefined, 'false', 'IS:false'])
      expect(parseFeatureQuery({ status, ...(everyEnvironment && { everyEnvironment }) }).status).toEqual([status]);
    for (const everyEnvironment of ['true', 'IS:true'])
      expect(parseFeatureQuery({ status, everyEnvironment }).status).toEqual([
        ['production:partial', 'production:all'],
        ['staging:disabled'],
      ]);
    expect(parseFeatureQuery({ everyEnvironment: 'true' }).status).toBeUndefined();
  });
});

describe('an invalid query', () => {
  const lists: readonly Parameter[] = ['project', 'state', 'lifecycle', 'type', 'createdBy', 'tag', 'segment'];
  const hostile: readonly (readonly [Parameter, string])[] = [
    ...lists.flatMap((parameter) => {
      const operator = parameter === 'tag' || parameter === 'segment' ? 'INCLUDE' : 'IS';
      return ['', 'x', operator, ':a:b', 'is:a:b', 'CONTAINS:a:b', `${operator}:a:b\n`].map(
        (text) => [parameter, text] as const,
      );
    }),
    ...[
      'INCLUDE:',
      'INCLUDE: ',
      'INCLUDE:,',
      'INCLUDE:red',
      'INCLUDE::red',
      'INCLUDE:simple:',
      'INCLUDE:,simple:red',
      'INCLUDE:simple:red,:x',
    ].map((text) => ['tag', text] as const),
    ...['', 'dark', 'CONTAINS', 'contains:a', 'IS:a', 'CONTAINS:a\nb'].map((text) => ['description', text] as const),
    ...['IS:Live', 'IS:dead', 'IS:live,dead'].map((text) => ['lifecycle', text] as const),
    ...['IS:Stale', 'IS:potentially-stale', 'IS:active,other'].map((text) => ['state', text] as const),
    ...['production', ':enabled', 'production:', 'production:on', 'production:Enabled', 'a:enabled,b:enabled'].map(
      (text) => ['status', text] as const,
    ),
    ...[
      'IS_BEFORE:2024-02-30',
      'IS_BEFORE:2023-02-29',
      'IS_BEFORE:2024-13-01',
      'IS_BEFORE:24-01-01',
      'IS_BEFORE:2024-01-01T00:00:00Z',
      'IS_AFTER:2024-01-01',
      'IS_BEFORE:',
      '2024-01-01',
      'IS_BEFORE:2024-01-01\n',
      'IS_BEFORE:+02024-01-01',
    ].flatMap((text) => [['createdAt', text] as const, ['lastSeenAt', text] as const]),
    ...['', '0', '-1', '1001', '2.5', '1e2', '1e400', ' 5', '5 ', '+5', '0x10', 'abc', 'NaN', '٣'].map(
      (text) => ['limit', text] as const,
    ),
    ...['', '-1', '-0', '2.5', '1e400', 'Infinity', ' ', 'abc', '1_000'].map((text) => ['offset', text] as const),
    ...['', 'ASC', 'DESC', 'up'].map((text) => ['sortOrder', text] as const),
    ...(['archived', 'favorite', 'fuzzy', 'everyEnvironment'] as const).flatMap((parameter) =>
      ['', '1', 'TRUE', 'yes', 'IS:', 'IS:maybe', 'IS_NOT:true', 'IS_ANY_OF:yes'].map(
        (text) => [parameter, text] as const,
      ),
    ),
  ];

  it.each(hostile.map(([parameter, text]) => ({ parameter, text })))(
    'is refused and names the parameter: $parameter=$text',
    ({ parameter, text }) => {
      expect(refusalOf(parameter, text)).toMatchObject({
        kind: 'ValidationError',
        message: expect.stringContaining(`\`/query/${parameter}\``),
        details: [{ path: `/query/${parameter}` }],
      });
    },
  );

  it.each(parameters)('is refused when it is too long or not text: %s', (parameter) => {
    for (const text of ['x'.repeat(4_097), '😀'.repeat(4_097), 'x'.repeat(1_000_000), 'a\0b', '\ud800'])
      expect(refusalOf(parameter, text)).toMatchObject({ details: [{ path: `/query/${parameter}` }] });
  });

  it('is refused when it asks for a status of every environment, and one is no status', () => {
    const status = ['production:enabled', 'staging:on'];
    expect(() => parseFeatureQuery({ status, everyEnvironment: 'true' })).toThrow('/query/status');
  });

  it.each(['a,b,c,d,e,f', 'x'.repeat(101)])('is refused when it would be slow to compare: fuzzy %s', (query) => {
    expect(() => parseFeatureQuery({ query, fuzzy: 'true' })).toThrow('/query/query');
    expect(parseFeatureQuery({ query, fuzzy: 'false' }).texts.length).toBeGreaterThan(0);
  });

  it('is not one with the maximum number of characters or values', () => {
    expect(understood('query', '😀'.repeat(4_096)).texts).toHaveLength(1);
    const values = Array.from({ length: 201 }, (_, index) => `t:${index}`);
    expect(understood('tag', `INCLUDE:${values.slice(1).join(',')}`).tag?.values).toHaveLength(200);
    for (const parameter of ['query', 'project', 'segment'] as const)
      expect(
        refusalOf(parameter, `${parameter === 'segment' ? 'INCLUDE' : 'IS'}:${values.join(',')}`)?.message,
      ).toContain('at most 200');
    expect(() => parseFeatureQuery({ status: Array.from({ length: 201 }, () => 'a:enabled') })).toThrow(
      '/query/status',
    );
    expect(() => parseFeatureQuery({ status: [] })).toThrow('/query/status');
  });
});

describe('a hostile filter', () => {
  // Each way to read one `,a:b` doubles the work of a pattern that is matched by trying: 116 characters take it two seconds.
  it.each([100, 1_000, 4_000])(
    'of %i characters on which a regular expression would backtrack is refused',
    (length) => {
      const hostile = [
        ['tag', 'INCLUDE:', 'a:b,'],
        ['segment', 'INCLUDE:', 'a,'],
        ['project', 'IS:', 'a,'],
      ] as const;
      for (const [parameter, operator, piece] of hostile) {
        const text = `${operator.padEnd(length - 1, piece)}\n`;
        expect(refusalOf(parameter, text)?.details).toMatchObject([{ path: `/query/${parameter}` }]);
      }
    },
  );

  it('is parsed or refused: 100,000 generated texts', () => {
    const bits = [
      'IS',
      'IS_NOT',
      'INCLUDE',
      'EXCLUDE_ALL',
      ':',
      ',',
      ' ',
      '\n',
      '\0',
      'a',
      'simple',
      '%',
      '_',
      "'",
      '"',
      '\\',
      '\u202e',
      '😀',
      '\ud800',
      '__proto__',
      '2024-01-01',
      '1e400',
    ];
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...bits), { maxLength: 12 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(fc.array(text, { minLength: 20, maxLength: 20 }), (hostileTexts) => {
        for (const [at, hostileText] of hostileTexts.entries()) {
          const parameter = parameters[at % parameters.length] as Parameter;
          const path = refusalOf(parameter, hostileText)?.details[0]?.path ?? `/query/${parameter}`;
          if (path !== `/query/${parameter}`) throw new Error(`${path} is refused, and not ${parameter}`);
        }
      }),
      { numRuns: 5_000, seed: 2026 },
    );
  });
});

describe('the documented pattern', () => {
  const documented = (parameter: Parameter): RegExp =>
    new RegExp(
      (SearchFeatures.query.properties[parameter] as unknown as { documentedPattern: string }).documentedPattern,
    );
  const parts = fc.array(fc.constantFrom('INCLUDE', 'IS', 'EXCLUDE_ALL', ':', ':', ',', ' ', '\n', 'a', 'b2', '-'), {
    maxLength: 10,
  });
  const pieces = fc
    .tuple(fc.constantFrom('', 'IS:', 'INCLUDE:', 'IS_NONE_OF:', 'INCLUDE_ALL_OF:'), parts)
    .map(([operator, rest]) => operator + rest.join(''));

  it.each(['project', 'type', 'createdBy', 'tag', 'segment', 'createdAt'] as const)(
    'of %s matches every valid value',
    (parameter) => {
      fc.assert(
        fc.property(pieces, (text) => {
          if (refusalOf(parameter, text) === undefined) expect(text).toMatch(documented(parameter));
        }),
        { numRuns: 3_000 },
      );
    },
  );

  it.each(['project', 'tag', 'segment'] as const)(
    'of %s matches no refused value, except tags without a type or a value and lists of two lines',
    (parameter) => {
      const isUnclear = parameter === 'tag' ? /[:,] *(,|$)|(,|^[A-Z_]+:) *:|\n/ : /\n/;
      fc.assert(
        fc.property(pieces, (text) => {
          if (documented(parameter).test(text) && !isUnclear.test(text))
            expect(refusalOf(parameter, text)).toBeUndefined();
        }),
        { numRuns: 3_000 },
      );
    },
  );
});
