/** A token of a filter that cannot be applied, and the reason in words. */
export interface FilterError {
  readonly token: string;
  readonly reason: string;
}
