/** A value of a context field, after the name of the field. */
export type FieldValue = readonly [field: string, value: string];

/** The fields, that of the last value last, each with its values, the newest first. */
export type TriedValues = readonly (readonly [field: string, values: readonly string[]])[];

const maxFields = 50;
const maxValuesOfField = 8;
/** Constraints have no longer ones. */
const maxLength = 100;

/** Adds values that a person tries. The oldest fields and values beyond the limits are forgotten. */
export function withTried(known: TriedValues, tried: readonly FieldValue[]): TriedValues {
  const byField = new Map(known);
  for (const [field, value] of tried) {
    if (value === '' || value.length > maxLength) continue;
    const others = (byField.get(field) ?? []).filter((other) => other !== value);
    byField.delete(field);
    byField.set(field, [value, ...others].slice(0, maxValuesOfField));
  }
  return [...byField].slice(-maxFields);
}
