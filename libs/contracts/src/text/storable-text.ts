import { invalid } from '../errors.ts';

/** The escape in JSON of a character that cannot be stored: NUL, or a surrogate, which may be a lone one. */
const unstorableEscape = /\\u(?:0000|[dD][89a-fA-F])/;

const requireStorable = (value: unknown, path: string, depth: number): void => {
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
};

/** The maximum number of nested objects and arrays in the JSON of a request. */
export const maxDepth = 64;

/**
 * Refuses texts, keys included, that PostgreSQL cannot store or would not return unchanged: those with NUL or a lone surrogate.
 * @throws Refusal `ValidationError` that names the property, also for a value that is nested more than `maxDepth` levels deep
 */
export const requireStorableText = (value: unknown, path: string): void => requireStorable(value, path, 0);

/** Whether JSON in UTF-8 may contain characters that `requireStorableText` refuses. If not, its value need not be checked. */
export const mayHoldUnstorableText = (json: string): boolean => unstorableEscape.test(json);
