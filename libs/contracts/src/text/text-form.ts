/** The forms that a schema can require of a text with the keyword `form`. Each is checked in linear time. */
export type TextForm = 'url-friendly' | 'not-blank' | 'not-empty' | 'json-pointer' | 'token-type';

const isUrlFriendly = (name: string): boolean =>
  name !== '.' && name !== '..' && name.isWellFormed() && encodeURIComponent(name) === name;

/**
 * The error of a name that is reserved; undefined for other names. In JSON that has the names of flags, variants or context fields as keys,
 * such as a report of metrics, this one stands for the prototype of an object, so it would be refused there.
 */
export const reservedNameError = (name: string): string | undefined =>
  name === '__proto__' ? 'is not allowed: the name is reserved' : undefined;

/**
 * The error of a name that is empty, too long, reserved, or would need escapes in a URL; undefined for other names. It is the predicate of a
 * sentence whose subject is the property.
 */
export const urlFriendlyError = (name: string, maxLength = 100): string | undefined => {
  if (name === '') return 'is not allowed to be empty';
  if (name.length > maxLength) return `must be at most ${maxLength} characters long`;
  return isUrlFriendly(name) ? reservedNameError(name) : 'must be URL friendly';
};

const isJsonPointer = (text: string): boolean => text === '' || (text.startsWith('/') && !/~(?![01])/.test(text));

/** The types of tokens in requests, in lower case; `backend` is a synonym of `client`. */
const tokenTypes: ReadonlySet<string> = new Set(['client', 'backend', 'frontend', 'admin']);

/** The error of a text that does not have the form, as the predicate of a sentence; undefined for other texts. */
export const textFormError = (form: TextForm, text: string): string | undefined => {
  switch (form) {
    case 'url-friendly':
      return urlFriendlyError(text);
    case 'json-pointer':
      return isJsonPointer(text) ? undefined : 'must be a JSON pointer';
    case 'token-type':
      return tokenTypes.has(text.toLowerCase()) ? undefined : 'must be client, frontend or admin';
    case 'not-blank':
      return text.trim() === '' ? 'is not allowed to be empty' : undefined;
    case 'not-empty':
      return text === '' ? 'is not allowed to be empty' : undefined;
  }
};
