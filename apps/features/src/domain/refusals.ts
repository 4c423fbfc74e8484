import { type ErrorDetail, invalid, type Refusal, refusal } from '@bunting/contracts';

const most = 200;

/** What somebody sent, as JSON and short enough for a message. */
export const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;
};

/** A name that somebody sent, short enough for a message. */
export const named = (name: string): string => (name.length > most ? `${name.slice(0, most).toWellFormed()}…` : name);

/** 400: a reason in the words that Unleash's clients know, and the property at fault. The reason has no full stop. */
export const wrong = (reason: string, path: string): Refusal => {
  const at = named(path);
  return invalid(`${reason}: see the \`${at}\` property.`, at);
};

/** 400: what the property must be, and what was sent instead. */
export const mustBe = (what: string, path: string, sent: unknown): Refusal => {
  const at = named(path);
  return invalid(`The \`${at}\` property must ${what}. You provided ${shown(sent)}.`, at);
};

/** 400: there would be too many. */
export const tooMany = (what: string, limit: number, path?: string): Refusal => {
  const message = `Failed to create ${what}. You can't create more than the established limit of ${limit}.`;
  const detail: ErrorDetail = path === undefined ? { message } : { message, path: named(path) };
  return refusal('ExceedsLimitError', message, { details: [detail] });
};

/** Says that the project does not have the environment. */
export const noSuchEnvironment = (environment: string, project: string): string =>
  `Could not find environment ${named(environment)} for project: ${named(project)}`;
