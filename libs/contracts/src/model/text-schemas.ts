import { Type } from 'typebox';
import { urlFriendlyPattern } from './documented-patterns.ts';

/** The schema of a name that needs no escape in a URL. */
export const UrlFriendlyName = (description: string) =>
  Type.String({
    description,
    form: 'url-friendly',
    documentedMinLength: 1,
    documentedMaxLength: 100,
    documentedPattern: urlFriendlyPattern,
  });

/** Options of a text that is not empty. */
export const notEmpty = { form: 'not-empty', documentedMinLength: 1 } as const;

/** Options of a JSON pointer. */
export const jsonPointer = { form: 'json-pointer', documentedPattern: '^(/([^~]|~[01])*)?$' } as const;

/** The schema of a text of 1 to `max` characters; the white space around it is not counted. */
export const TrimmedText = (max: number, description: string) =>
  Type.String({
    maxLength: 2_000,
    ...notBlank,
    maxTrimmedLength: max,
    documentedPattern: String.raw`^\s*\S([\s\S]{0,${max - 2}}\S)?\s*$`,
    description: `${description}; 1 to ${max} characters without the white space around it`,
  });

/** Options of a text that must not be blank. */
export const notBlank = { form: 'not-blank', documentedPattern: String.raw`\S` } as const;
