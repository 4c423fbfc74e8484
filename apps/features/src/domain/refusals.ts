import { type ErrorDetail, invalid, quoteValue, type Refusal, refusal, truncate } from '@bunting/contracts';

const maxLength = 200;

/** A name from a request, truncated for an error message. */
export const shortName = (name: string): string => truncate(name, maxLength);

/** 400: a reason in the words that Unleash's clients know, and the property at fault. The reason has no full stop. */
export const invalidProperty = (reason: string, path: string): Refusal => {
  const at = shortName(path);
  return invalid(`${reason}: see the \`${at}\` property.`, at);
};

/** 400: what the property must be, and what was sent instead. */
export const invalidValue = (rule: string, path: string, value: unknown): Refusal => {
  const at = shortName(path);
  return invalid(`The \`${at}\` property must ${rule}. You provided ${quoteValue(value)}.`, at);
};

/** 400: there would be too many. */
export const limitExceeded = (what: string, limit: number, path?: string): Refusal => {
  const message = `Failed to create ${what}. You can't create more than the established limit of ${limit}.`;
  const detail: ErrorDetail = path === undefined ? { message } : { message, path: shortName(path) };
  return refusal('ExceedsLimitError', message, { details: [detail] });
};

/** Says that the project does not have the environment. */
export const environmentNotFound = (environment: string, project: string): string =>
  `Could not find environment ${shortName(environment)} for project: ${shortName(project)}`;
