import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { asJsonObject, isEqual, memberOf } from './values.ts';

it('a member is read from an object that has it, and is undefined otherwise', () => {
  expect(memberOf({ id: 7 }, 'id')).toBe(7);
  for (const value of [{}, { name: 'id' }, [7], 'id', 7, null, undefined])
    expect(memberOf(value, 'id')).toBeUndefined();
  for (const inherited of ['constructor', '__proto__', 'toString']) expect(memberOf({}, inherited)).toBeUndefined();
});

it('what is no JSON object is read as an empty one', () => {
  for (const value of [[7], 'id', 7, null, undefined]) expect(asJsonObject(value)).toEqual({});
});

describe('two JSON values', () => {
  it('are equal when only the order of properties differs', () => {
    expect(isEqual({ a: 1, b: [{ c: null, d: 'x' }] }, { b: [{ d: 'x', c: null }], a: 1 })).toBe(true);
  });

  it('are equal when one has a property that is undefined', () => {
    expect(isEqual({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(isEqual({ a: 1 }, { a: 1, b: undefined })).toBe(true);
  });

  it.each([
    [{ a: 1 }, { a: 1, b: null }],
    [{ a: 1 }, { a: '1' }],
    [{}, []],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 1]],
    [null, {}],
    [{}, { toString: 'x' }],
    [{ toString: 'x' }, {}],
    [undefined, null],
  ])('differ: %j and %j', (one, other) => {
    expect(isEqual(one, other)).toBe(false);
    expect(isEqual(other, one)).toBe(false);
  });

  it('are equal to their copies', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => isEqual(value, JSON.parse(JSON.stringify(value)))),
      { numRuns: 200 },
    );
  });
});
