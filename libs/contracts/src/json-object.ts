/** A JSON object, as opposed to a list, a scalar or null. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value if it is a JSON object, otherwise an empty object. */
export const asJsonObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** A member of the value; undefined if the value is no JSON object, or has no such member of its own. */
export const memberOf = (value: unknown, key: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
