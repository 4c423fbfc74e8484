import { isJsonObject, memberOf } from './json-object.ts';

/** Whether two JSON values are equal. The order of keys does not matter, and `undefined` equals a missing key. */
export const isEqual = (one: unknown, other: unknown): boolean => {
  if (one === other) return true;
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) && one.length === other.length && one.every((member, index) => isEqual(member, other[index]))
    );
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  return (
    Object.keys(one).every((key) => isEqual(one[key], memberOf(other, key))) &&
    Object.keys(other).every((key) => other[key] === undefined || Object.hasOwn(one, key))
  );
};
