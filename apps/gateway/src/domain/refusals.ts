import { invalid, refusal, type Refusal } from '@bunting/contracts';

/** 400: a reason in the words that Unleash's clients know, and the property at fault. The reason has no full stop. */
export const badRequest = (reason: string, path: string): Refusal =>
  invalid(`${reason}: see the \`${path}\` property.`, path);

/** 400: there would be too many. */
export const limitExceeded = (what: string, limit: number): Refusal =>
  refusal(
    'ExceedsLimitError',
    `Failed to create ${what}. You can't create more than the established limit of ${limit}.`,
  );
