/** The value if it is a JSON object, otherwise an empty object. */
export const asJsonObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
