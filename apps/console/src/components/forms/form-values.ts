/** The trimmed text of a field; undefined where it is empty. */
export const textOrUndefined = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

/** The instant `days` days from now, in the format of RFC 3339; undefined where `days` is empty, which means no end. */
export const instantAfterDays = (days: string | boolean | undefined): string | undefined =>
  typeof days !== 'string' || days === '' ? undefined : new Date(Date.now() + Number(days) * 86_400_000).toISOString();

/** The options of a select from pairs of an id and a label. */
export const optionsOfPairs = (pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([id, label]) => ({ id, label }));
