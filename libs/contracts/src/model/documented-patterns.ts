// Patterns for the OpenAPI document, in keywords such as `documentedPattern`, which validation ignores. The services check the same rules
// in code, because matching input with a pattern can take exponential time.

/**
 * A name without characters that `encodeURIComponent` escapes, and neither `.` nor `..`. That `__proto__` is reserved is left out: many
 * readers of the document do not know lookaheads.
 */
export const urlFriendlyPattern = "^([.]{0,2}[A-Za-z0-9_!~*'()-]|[.]{3})[A-Za-z0-9_.!~*'()-]*$";

const emailLabel = String.raw`([A-Za-z0-9\u00c0-\uffef]([A-Za-z0-9\u00c0-\uffef-]{0,61}[A-Za-z0-9\u00c0-\uffef])?)`;
/** An empty text, or an e-mail address as `<input type="email">` of HTML accepts it, with letters beyond ASCII. */
export const emailPattern =
  String.raw`^\s*([A-Za-z0-9.!#$%&'*+/=?^_` +
  '`' +
  String.raw`{|}~\u00c0-\uffef-]+@${emailLabel}([.]${emailLabel})*)?\s*$`;

/** A valid date of the calendar in the form YYYY-MM-DD. */
const day =
  '([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))' +
  '|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)';
/** A date, with or without a time and its offset. */
export const datePattern = `${day}(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])?)?`;
/** A filter whose value is a date. */
export const documentedDayFilter = { documentedPattern: `^[A-Z_]+:${day}$` };

const value = String.raw`[^,\r\n\u2028\u2029]*[^,\s][^,\r\n\u2028\u2029]*`;
/** A filter with comma-separated values, none of them blank. */
export const documentedListFilter = { documentedPattern: `^[A-Z_]+:${value}(,${value})*$` };

const tag = String.raw`[ \t]*[^:,\s][^:,\r\n\u2028\u2029]*:[^,\r\n\u2028\u2029]+`;
const restOfTag = String.raw`[^:,\r\n\u2028\u2029]*[^:,\s][^:,\r\n\u2028\u2029]*`;
/** A filter with comma-separated tags; a comma without a `<type>:` after it is part of the value before it. */
export const documentedTagFilter = { documentedPattern: `^[A-Z_]+:${tag}(,(${tag}|${restOfTag}))*$` };

/** A filter that lists states. */
export const documentedStateFilter = { documentedPattern: '^[A-Z_]+: *(active|stale)( *, *(active|stale))* *$' };

/** A filter of events: only `IS` and `IS_ANY_OF` are supported. */
export const documentedEventFilters = {
  ids: { documentedPattern: '^(IS|IS_ANY_OF): *-?[0-9]{1,15}( *, *-?[0-9]{1,15})* *$' },
  values: { documentedPattern: `^(IS|IS_ANY_OF):${value}(,${value})*$` },
  day: { documentedPattern: `^IS:${day}$` },
};

/** An integer in the text of a query. */
export const offsetPattern = '^[0-9]{1,15}$';
/** An integer from 1 to 1000 in the text of a query. */
export const limitPattern = '^0{0,9}([1-9][0-9]{0,2}|1000)$';

/** A tag as `<type>:<value>`. */
export const writtenTagPattern = String.raw`^[^:]+:[\s\S]+$`;
