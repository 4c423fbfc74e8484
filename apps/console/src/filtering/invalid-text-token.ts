/** A token of a filter, or of a context of the playground, that cannot be applied, and the reason in words. */
export interface InvalidTextToken {
  readonly token: string;
  readonly reason: string;
}
