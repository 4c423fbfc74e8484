import { describe, expect, it } from 'vitest';
import { suggestionsAt } from './filter-suggestions.ts';
import { filterTokensOf, readDayBound } from './filter-tokens.ts';

describe('the text of a filter', () => {
  it('is split at blanks outside of quotes into keys, values and words', () => {
    const parts = filterTokensOf('type:release -tag:"two words" check "a:b"').map(({ key, value, isNegated }) => ({
      key,
      value,
      isNegated,
    }));
    expect(parts).toEqual([
      { key: 'type', value: 'release', isNegated: false },
      { key: 'tag', value: 'two words', isNegated: true },
      { key: undefined, value: 'check', isNegated: false },
      { key: undefined, value: 'a:b', isNegated: false },
    ]);
  });

  it('is completed at the caret, with quotes around values with blanks', () => {
    const values = (key: string) => (key === 'by' ? ['Ada Lovelace', 'Grace'] : []);
    expect(suggestionsAt('x b y', 3, ['by', 'type'], values)).toEqual([{ label: 'by:', filter: 'x by: y', caret: 5 }]);
    expect(suggestionsAt('by:Grace,love', 13, ['by'], values)).toEqual([
      { label: 'by:Grace,"Ada Lovelace"', filter: 'by:Grace,"Ada Lovelace" ', caret: 24 },
    ]);
  });
});

const now = new Date('2026-11-22T10:00:00Z');

it('a filter counts days back from the day of the reader', () => {
  expect(readDayBound('<1d', now, 'Pacific/Kiritimati')).toEqual({ isSince: true, day: '2026-11-22' });
  expect(readDayBound('<1d', new Date('2026-11-22T04:00:00Z'), 'America/Los_Angeles')).toEqual({
    isSince: true,
    day: '2026-11-20',
  });
});

it('a filter bounds days by how long ago they are, or by the calendar', () => {
  expect(readDayBound('<7d', now, 'UTC')).toEqual({ isSince: true, day: '2026-11-15' });
  expect(readDayBound('>4w', now, 'UTC')).toEqual({ isSince: false, day: '2026-10-25' });
  expect(readDayBound('>2026-01-31', now, 'UTC')).toEqual({ isSince: true, day: '2026-01-31' });
  for (const value of ['7d', '<', '<7x', '<2026-13-01', '>2026-1-1', '<99999y', '>3000y'])
    expect(readDayBound(value, now, 'UTC')).toBeUndefined();
});
