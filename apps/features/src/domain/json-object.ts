/** A JSON object, as opposed to a list, a scalar or null. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of a JSON object; none of any other value. */
export const membersOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
