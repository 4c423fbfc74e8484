/** A token of a filter, or of a context of the playground, that cannot be applied, and the reason in words. */
export interface InvalidTextToken {
  readonly token: string;
  readonly reason: string;
}

export const unknownKeyText = (key: string): string =>
  `${key} is not a filter key; put it into quotes to search for the text`;
