/** The user and the time for which features are evaluated. */
export interface EvaluationContext {
  /** the values of context fields, by name */
  readonly fields: ReadonlyMap<string, string>;
  readonly now: Date;
  /** a random number from 0 to below 1, for users without a sticky key */
  readonly random: () => number;
}

/** A function of the context, compiled once per feature and evaluated per user. */
export type Predicate = (context: EvaluationContext) => boolean;

/** The value of a field; undefined where the context has none, or an empty one. */
export const fieldValue = ({ fields }: EvaluationContext, field: string): string | undefined =>
  fields.get(field) || undefined;

/** A sticky key for a user who has none: a new random one on each call. */
export const randomKey = ({ random }: EvaluationContext): string => String(Math.floor(random() * 100_000) + 1);
