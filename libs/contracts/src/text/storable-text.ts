import { invalid } from '../errors.ts';

const suspicious = /\\u(?:0000|[dD][89a-fA-F])/;

const wellFormed = (value: unknown, path: string, depth: number): void => {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw invalid(`The \`${path}\` property must not contain the character U+0000.`, path);
    if (!value.isWellFormed())
      throw invalid(`The \`${path}\` property must be well-formed Unicode: it holds a lone surrogate.`, path);
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= maxDepth) throw invalid(`The \`${path}\` property is nested more than ${maxDepth} levels deep.`, path);
    for (const [key, member] of Object.entries(value)) {
      wellFormed(key, path, depth + 1);
      wellFormed(member, `${path}/${key}`, depth + 1);
    }
  }
};

/** The maximum depth of the JSON of a request. */
export const maxDepth = 64;

/** Refuses text that PostgreSQL cannot store or would not return unchanged: NUL and lone surrogates. */
export const requireStorableText = (value: unknown, path: string): void => wellFormed(value, path, 0);

/** Whether JSON text may contain characters that `requireStorableText` refuses. If not, its values need not be visited. */
export const mayHoldUnstorableText = (json: string): boolean => suspicious.test(json);
