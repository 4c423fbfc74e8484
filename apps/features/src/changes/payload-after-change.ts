/**
 * The properties that a payload has, with their values after the change.
 * @param properties all properties that a payload can have; its type refuses an incomplete list
 */
export const payloadAfterChange = <Property extends string>(
  properties: Readonly<Record<Property, true>>,
  payload: Readonly<Partial<Record<Property, unknown>>>,
  after: Readonly<Record<Property, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    (Object.keys(properties) as Property[])
      .filter((property) => payload[property] !== undefined)
      .map((property) => [property, after[property]]),
  );
