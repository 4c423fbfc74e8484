import { type Filter, parse } from 'scim2-parse-filter';

/** A text that is no valid filter of SCIM. The message is for the client. */
export class InvalidFilter extends Error {}

/**
 * Parses a filter of SCIM (RFC 7644, 3.4.2.2), or a path with one. Control characters, which no filter has, are refused: the tokenizer of
 * scim2-parse-filter backtracks exponentially over line breaks in text without a closing quote.
 * @throws InvalidFilter for text that is neither
 */
export const parseScimFilter = (text: string): Filter => {
  const invalid = new InvalidFilter('The filter cannot be understood.');
  if (/\p{Cc}/u.test(text)) throw invalid;
  try {
    return parse(text);
  } catch {
    throw invalid;
  }
};
