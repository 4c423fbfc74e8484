import { type ErrorDetail, invalid, quoteValue, type Refusal, refusal, truncate } from '@bunting/contracts';

const maxLength = 200;

/** A name from a request, truncated for an error message. */
export const shortName = (name: string): string => truncate(name, maxLength);

/** 400 with a reason, worded as in Unleash without a full stop, and the invalid property. */
export const invalidProperty = (reason: string, path: string): Refusal => {
  const shownPath = shortName(path);
  return invalid(`${reason}: see the \`${shownPath}\` property.`, shownPath);
};

/** 400 with the violated rule, such as `be integer`, and the value that was sent. */
export const invalidValue = (rule: string, path: string, value: unknown): Refusal => {
  const shownPath = shortName(path);
  return invalid(`The \`${shownPath}\` property must ${rule}. You provided ${quoteValue(value)}.`, shownPath);
};

/** 400: a resource limit would be exceeded. */
export const limitExceeded = (what: string, limit: number, path?: string): Refusal => {
  const message = `Failed to create ${what}. You can't create more than the established limit of ${limit}.`;
  const detail: ErrorDetail = path === undefined ? { message } : { message, path: shortName(path) };
  return refusal('ExceedsLimitError', message, { details: [detail] });
};

/** The message of 404 for an environment that the project does not have. */
export const environmentNotFound = (environment: string, project: string): string =>
  `Could not find environment ${shortName(environment)} for project: ${shortName(project)}`;
