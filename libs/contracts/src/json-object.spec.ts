import { expect, it } from 'vitest';
import { asJsonObject, memberOf } from './json-object.ts';

it('a member is read from an object that has it, and is undefined otherwise', () => {
  expect(memberOf({ id: 7 }, 'id')).toBe(7);
  for (const value of [{}, { name: 'id' }, [7], 'id', 7, null, undefined])
    expect(memberOf(value, 'id')).toBeUndefined();
  for (const inherited of ['constructor', '__proto__', 'toString']) expect(memberOf({}, inherited)).toBeUndefined();
});

it('what is no JSON object is read as an empty one', () => {
  for (const value of [[7], 'id', 7, null, undefined]) expect(asJsonObject(value)).toEqual({});
});
