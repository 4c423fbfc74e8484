/** What a text of a request must look like where a schema says so in `form`. It is judged by hand, in one pass. */
export type TextForm = 'url-friendly' | 'not-blank' | 'not-empty' | 'json-pointer' | 'token-type';

const isUrlFriendly = (name: string): boolean =>
  name !== '.' && name !== '..' && name.isWellFormed() && encodeURIComponent(name) === name;

/** What is wrong with a name that needs no escape in a URL, as a sentence goes on after the name of its property. */
export const urlFriendlyError = (name: string, most = 100): string | undefined => {
  if (name === '') return 'is not allowed to be empty';
  if (name.length > most) return `must be at most ${most} characters long`;
  return isUrlFriendly(name) ? undefined : 'must be URL friendly';
};

const isJsonPointer = (text: string): boolean => text === '' || (text.startsWith('/') && !/~(?![01])/.test(text));

/** What tokens are for, as requests write it in any case; `backend` is another word for `client`. */
const tokenTypes: ReadonlySet<string> = new Set(['client', 'backend', 'frontend', 'admin']);

/** What is wrong with a text of that form. */
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
