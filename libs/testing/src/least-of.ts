/** A JSON schema, as those of contracts are. */
type Schema = object;

/** The smallest value that satisfies a JSON schema of the contracts, whose formats and patterns it ignores. */
export const leastOf = (schema: Schema): unknown => {
  const {
    type,
    enum: among,
    properties,
    required = [],
    anyOf,
    minItems = 0,
    items,
    minimum = 1,
  } = schema as {
    type?: string;
    enum?: unknown[];
    properties?: Record<string, Schema>;
    required?: string[];
    anyOf?: Schema[];
    minItems?: number;
    items?: Schema;
    minimum?: number;
  };
  if (among !== undefined) return among[0];
  if (anyOf !== undefined) return leastOf(anyOf[0] as Schema);
  if (properties !== undefined)
    return Object.fromEntries(required.map((key) => [key, leastOf(properties[key] as Schema)]));
  if (type === 'array') return Array.from({ length: minItems }, () => leastOf(items as Schema));
  if (type === 'integer' || type === 'number') return minimum;
  if (type === 'boolean') return true;
  return type === 'string' ? 'x' : {};
};
