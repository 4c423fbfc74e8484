/** The properties that a payload has, with their values after the change. The list does not compile while it lacks one. */
export const changedProperties = <Property extends string>(
  properties: Readonly<Record<Property, true>>,
  payload: Readonly<Partial<Record<Property, unknown>>>,
  after: Readonly<Record<Property, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    (Object.keys(properties) as Property[])
      .filter((property) => payload[property] !== undefined)
      .map((property) => [property, after[property]]),
  );
