import { type ConstraintOperator, constraintOperators } from '@bunting/contracts';

/** How the value of a constraint is entered. */
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

/** The values of a text with one on each line or with separators between them, as pasted from a spreadsheet. Each comes once. */
export const valuesOfText = (text: string): string[] => {
  const separator = /[\n\t]/.test(text) ? /[\n\r\t]+/ : /,/;
  const values = text.split(separator).map((value) => value.trim());
  // The line that is being typed stays, so that the next value can follow it.
  const isTyping = text.endsWith('\n');
  return [...new Set(values.filter((value) => value !== '')), ...(isTyping ? [''] : [])];
};

/** A time in the form of `datetime-local`, in the zone of the reader; empty where it is none. */
export const localTime = (value: string): string => {
  const time = new Date(value);
  if (value === '' || Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
