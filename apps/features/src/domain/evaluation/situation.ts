/** Whom features are evaluated for, and when. */
export interface Situation {
  /** what is known of the user, by the names of context fields */
  readonly context: ReadonlyMap<string, string>;
  readonly now: Date;
  /** from 0 to 1, 1 excluded, each time another: for who is to have no memory */
  readonly random: () => number;
}

/** What is known of a field; an empty text says nothing. */
export const valueOf = ({ context }: Situation, field: string): string | undefined => context.get(field) || undefined;

/** Puts a user on a side at random. */
export const anyKey = ({ random }: Situation): string => String(Math.floor(random() * 100_000) + 1);
