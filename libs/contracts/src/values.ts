/** A JSON object, as opposed to a list, a scalar or null. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is a JSON object, otherwise an empty object. */
export function asJsonObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** A member of the value; undefined if the value is no JSON object, or has no such member of its own. */
export function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Whether two JSON values are equal. The order of keys does not matter, and `undefined` equals a missing key. */
export function isEqual(one: unknown, other: unknown): boolean {
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
}

/** Truncates a text to `length` UTF-16 units, with an ellipsis for the rest. */
export function truncate(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;
}

/** A value of a request as JSON, truncated for messages. */
export function quoteValue(value: unknown): string {
  return truncate(JSON.stringify(value) ?? String(value), 200);
}
