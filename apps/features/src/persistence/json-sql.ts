/**
 * SQL: a JSON object without the members that are SQL `null`. Unleash leaves such members out, and generated clients tell an absent
 * member from one that is `null`. Members are written `'name': expression`.
 */
export const withoutNulls = (...members: readonly string[]): string =>
  `json_object(${members.join(', ')} absent on null returning json)`;

/** SQL: a value that `withoutNulls` keeps where it is SQL `null`, as JSON `null`. */
export const orNull = (value: string): string => `coalesce(to_json(${value}), 'null')`;
