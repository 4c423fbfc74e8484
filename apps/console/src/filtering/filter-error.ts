/** A part of a filter that means nothing, and why. */
export interface FilterError {
  readonly token: string;
  readonly reason: string;
}
