import { invalid } from './errors.ts';

/** Printable ASCII, as most texts are. Folding only lowers its case. */
const printableAscii = /^[ -~]*$/;

/**
 * Text without the differences that a search ignores: upper and lower case (the final sigma included), and composed and decomposed
 * characters. Control characters become spaces. Databases store folded texts, so a change of the result needs a migration that folds them
 * again.
 */
export function foldForSearch(text: string): string {
  return printableAscii.test(text)
    ? text.toLowerCase()
    : text
        .toWellFormed()
        .normalize('NFC')
        .toLowerCase()
        // A lower-case letter may have a composed form where its upper-case letter has none.
        .normalize('NFC')
        .replaceAll('ς', 'σ')
        .replace(/\p{Cc}/gu, ' ');
}

/** The escape in JSON of a character that cannot be stored: NUL, or a surrogate, which may be a lone one. */
const unstorableEscape = /\\u(?:0000|[dD][89a-fA-F])/;

function requireStorable(value: unknown, path: string, depth: number): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw invalid(`The \`${path}\` property must not contain the character U+0000.`, path);
    if (!value.isWellFormed())
      throw invalid(`The \`${path}\` property must be well-formed Unicode: it holds a lone surrogate.`, path);
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= maxDepth) throw invalid(`The \`${path}\` property is nested more than ${maxDepth} levels deep.`, path);
    for (const [key, member] of Object.entries(value)) {
      requireStorable(key, path, depth + 1);
      requireStorable(member, `${path}/${key}`, depth + 1);
    }
  }
}

/** The maximum number of nested objects and arrays in the JSON of a request. */
export const maxDepth = 64;

/**
 * Refuses texts, keys included, that PostgreSQL cannot store or would not return unchanged: those with NUL or a lone surrogate.
 * @throws Refusal `ValidationError` that names the property, also for a value that is nested more than `maxDepth` levels deep
 */
export function requireStorableText(value: unknown, path: string): void {
  return requireStorable(value, path, 0);
}

/** Whether JSON in UTF-8 may contain characters that `requireStorableText` refuses. If not, its value need not be checked. */
export function mayHoldUnstorableText(json: string): boolean {
  return unstorableEscape.test(json);
}

/** The forms that a schema can require of a text with the keyword `form`. Each is checked in linear time. */
export type TextForm = 'url-friendly' | 'not-blank' | 'not-empty' | 'json-pointer' | 'token-type';

function isUrlFriendly(name: string): boolean {
  return name !== '.' && name !== '..' && name.isWellFormed() && encodeURIComponent(name) === name;
}

/**
 * The error of a name that is reserved; undefined for other names. In JSON that has the names of flags, variants or context fields as keys,
 * such as a report of metrics, this one stands for the prototype of an object, so it would be refused there.
 */
export function reservedNameError(name: string): string | undefined {
  return name === '__proto__' ? 'is not allowed: the name is reserved' : undefined;
}

/**
 * The error of a name that is empty, too long, reserved, or would need escapes in a URL; undefined for other names. It is the predicate of a
 * sentence whose subject is the property.
 */
export function urlFriendlyError(name: string, maxLength = 100): string | undefined {
  if (name === '') return 'is not allowed to be empty';
  if (name.length > maxLength) return `must be at most ${maxLength} characters long`;
  return isUrlFriendly(name) ? reservedNameError(name) : 'must be URL friendly';
}

function isJsonPointer(text: string): boolean {
  return text === '' || (text.startsWith('/') && !/~(?![01])/.test(text));
}

/** The types of tokens in requests, in lower case; `backend` is a synonym of `client`. */
const tokenTypes: ReadonlySet<string> = new Set(['client', 'backend', 'frontend', 'admin']);

/** The error of a text that does not have the form, as the predicate of a sentence; undefined for other texts. */
export function textFormError(form: TextForm, text: string): string | undefined {
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
}
