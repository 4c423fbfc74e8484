import { expect, it } from 'vitest';
import { InvalidFilter, parseScimFilter } from '../../access/scim/scim-store.ts';

it('a filter of SCIM compares an attribute with a value', () => {
  expect(parseScimFilter('userName eq "ada"')).toEqual({ op: 'eq', attrPath: 'userName', compValue: 'ada' });
});

it.each(['', 'userName', 'userName eq "ada', 'userName eq "a\tb"', `userName eq "${'\n'.repeat(900)}`])(
  'a malformed filter of SCIM is refused: %j',
  (text) => {
    expect(() => parseScimFilter(text)).toThrow(InvalidFilter);
  },
);
