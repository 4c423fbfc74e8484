import { type ConstraintOperator, constraintOperators } from '@bunting/contracts';

/** The kind of input for the value of a constraint. */
type ValueKind = 'list' | 'number' | 'date' | 'version' | 'pattern';

export const valueKindOf = (operator: ConstraintOperator): ValueKind => {
  if (operator.startsWith('NUM_')) return 'number';
  if (operator.startsWith('DATE_')) return 'date';
  if (operator === 'REGEX') return 'pattern';
  return operator.startsWith('SEMVER_') ? 'version' : 'list';
};

/**
 * The operators that make sense for a context field: times for `currentTime`, all for the others.
 * @param allowsRegex whether the server accepts `REGEX`
 */
export const operatorsFor = (contextName: string, allowsRegex: boolean): readonly ConstraintOperator[] =>
  contextName === 'currentTime'
    ? constraintOperators.filter((operator) => valueKindOf(operator) === 'date')
    : ['IN', ...constraintOperators.filter((operator) => operator !== 'IN' && (operator !== 'REGEX' || allowsRegex))];

/** The distinct values of a text that has one on each line, or separates them by tabs or, on a single line, by commas. */
export const valuesOfText = (text: string): string[] => {
  const separator = /[\n\t]/.test(text) ? /[\n\r\t]+/ : /,/;
  const values = text.split(separator).map((value) => value.trim());
  // An empty last line is kept as an empty value, so that the user can type the next one there.
  const isTyping = text.endsWith('\n');
  return [...new Set(values.filter((value) => value !== '')), ...(isTyping ? [''] : [])];
};

/** A time in the format of an input of the type `datetime-local`, in the time zone of the browser; empty if it is not a time. */
export const localTime = (value: string): string => {
  const time = new Date(value);
  if (value === '' || Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
