import { describe, expect, it } from 'vitest';
import { eventSuggestions, readEventFilter } from './event-filter.ts';

const now = new Date('2026-11-22T10:00:00Z');
const timeZone = 'UTC';
const creators = [
  { id: 7, name: 'Ada Lovelace' },
  { id: -42, name: 'token' },
];
function read(filter: string, project?: string, timeZone = 'UTC') {
  return readEventFilter(filter, { creators, project }, { now, timeZone });
}

describe('a filter of events', () => {
  it('reads keys as parameters of the search, users by name, and other words as its text', () => {
    expect(
      read(
        'type:feature-created,feature-archived feature:lamp by:"ada lovelace" by:-42 environment:production beta "a:b"',
      ),
    ).toMatchObject({
      query: {
        type: 'IS_ANY_OF:feature-created,feature-archived',
        feature: 'IS_ANY_OF:lamp',
        createdBy: 'IS_ANY_OF:7,-42',
        environment: 'IS_ANY_OF:production',
        query: 'beta a:b',
      },
      errors: [],
    });
  });

  it('finds users who are called by their email by the part before the @, too', () => {
    const called = [...creators, { id: 8, name: 'Bo@example.org' }, { id: 9, name: 'bob@example.org' }];
    for (const by of ['bo', 'BO@example.org', '8']) {
      expect(readEventFilter(`by:${by}`, { creators: called, project: undefined }, { now, timeZone })).toMatchObject({
        query: { createdBy: 'IS_ANY_OF:8' },
        errors: [],
      });
    }
  });

  it.each([
    ['type:feature-created type:feature-archived by:ada@example.org', ['type feature-created or feature-archived']],
    [
      'feature:lamp,desk environment:production id:7 when:<7d',
      ['flag lamp or desk', 'environment production', 'event 7', 'in the last 7 days'],
    ],
    ['when:>2026-01-31 when:<2026-02-28 beta', ['since 31 Jan 2026', 'before 28 Feb 2026']],
    ['when:2026-01-31', ['on 31 Jan 2026']],
  ])('says %s in words, alternatives in one part', (filter, words) => {
    const day = (text: string): string =>
      text.replace(/\d+ \w{3} 2026/, (date) =>
        new Intl.DateTimeFormat(undefined, { numberingSystem: 'latn', dateStyle: 'medium' }).format(new Date(date)),
      );
    expect(read(filter).chips.map(({ label }) => label)).toEqual(words.map(day));
  });

  it('names several types by a pattern', () => {
    expect(read('type:feature-strategy-*').query.type).toBe(
      'IS_ANY_OF:feature-strategy-update,feature-strategy-add,feature-strategy-remove',
    );
    expect(read('type:*-tagged').query.type).toBe('IS_ANY_OF:feature-tagged');
    expect(read('type:segment-*ed').query.type).toBe('IS_ANY_OF:segment-created,segment-updated,segment-deleted');
  });

  it('bounds days on both sides, or names one', () => {
    expect(read('when:<7d').query).toEqual({ from: 'IS:2026-11-15', timeZone });
    expect(read('when:>2026-01-01 when:<2026-02-01').query).toEqual({
      from: 'IS:2026-01-01',
      to: 'IS:2026-01-31',
      timeZone,
    });
    // It is the 23rd there already.
    expect(read('when:<1d', undefined, 'Pacific/Kiritimati').query).toEqual({
      from: 'IS:2026-11-22',
      timeZone: 'Pacific/Kiritimati',
    });
    expect(read('when:2026-01-31').query).toEqual({ from: 'IS:2026-01-31', to: 'IS:2026-01-31', timeZone });
  });

  it('stays within the project of the page', () => {
    expect(read('', 'shop').query).toEqual({ project: 'IS_ANY_OF:shop' });
    expect(read('project:other', 'shop')).toMatchObject({
      query: { project: 'IS_ANY_OF:shop' },
      errors: [{ token: 'project:other' }],
    });
  });

  it.each([
    ['colour:red', 'colour is not a filter key'],
    ['type:no-such', 'no such type'],
    ['type:feature-created,no-such', 'no such type'],
    ['by:stranger', 'caused no event'],
    ['-type:feature-created', 'cannot be excluded'],
    ['feature:', 'a value is missing'],
    ['feature:,', 'a value is missing'],
    ['when:soon', 'write <7d'],
    ['when:<7d when:>2026-01-01', 'bounded on this side'],
    ['id:x', 'the number of an event'],
    ['constructor:x', 'constructor is not a filter key'],
  ])('says what is wrong with %s', (filter, reason) => {
    expect(read(filter).errors.map((error) => error.reason)).toEqual([expect.stringContaining(reason)]);
  });

  it('finds nothing by a user while the users are being read, instead of everything', () => {
    expect(readEventFilter('by:ada', { creators: undefined, project: undefined }, { now, timeZone })).toMatchObject({
      query: { createdBy: 'IS_ANY_OF:0' },
      errors: [],
    });
  });

  it('suggests keys and their values', () => {
    const vocabulary = { creators, projects: ['shop'], environments: ['production'], project: undefined };
    const labels = (filter: string) => eventSuggestions(filter, filter.length, vocabulary).map(({ label }) => label);
    expect(labels('en')).toEqual(['environment:']);
    expect(labels('by:ada')).toEqual(['by:"Ada Lovelace"']);
    expect(labels('type:strategy-o')).toEqual(['type:strategy-order-changed']);
    expect(labels('project:')).toEqual(['project:shop']);
  });
});
