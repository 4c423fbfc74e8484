import {
  type Constraint,
  type ConstraintOperator,
  constraintOperators,
  type StrategyVariant,
  totalWeight,
} from '@bunting/contracts';

/** The kind of input for the value of a constraint. */
type ValueKind = 'list' | 'number' | 'date' | 'version' | 'pattern';

export function valueKindOf(operator: ConstraintOperator): ValueKind {
  if (operator.startsWith('NUM_')) return 'number';
  if (operator.startsWith('DATE_')) return 'date';
  if (operator === 'REGEX') return 'pattern';
  return operator.startsWith('SEMVER_') ? 'version' : 'list';
}

function isTime(operator: ConstraintOperator): boolean {
  return valueKindOf(operator) === 'date';
}

/**
 * The operators that make sense for a context field: times for `currentTime`, the rest for the others, since some SDKs compare the current time,
 * whatever field a constraint names.
 * @param allowsRegex whether the server accepts `REGEX`
 */
export function operatorsFor(contextName: string, allowsRegex: boolean): readonly ConstraintOperator[] {
  if (contextName === 'currentTime') return constraintOperators.filter(isTime);
  return operatorsOfSignals.concat(allowsRegex ? 'REGEX' : []).filter((operator) => !isTime(operator));
}

/** The operators of a filter for signals, which compare the value at its path. */
export const operatorsOfSignals: readonly ConstraintOperator[] = [
  'IN',
  ...constraintOperators.filter((operator) => operator !== 'IN' && operator !== 'REGEX'),
];

/** Whether a constraint lacks the value that it compares with. */
export function lacksValue({ operator, value = '', values = [] }: Constraint): boolean {
  return valueKindOf(operator) === 'list' ? values.every((item) => item === '') : value === '';
}

/** The distinct values of a text that has one on each line, or separates them by tabs or, on a single line, by commas. */
export function valuesOfText(text: string): string[] {
  const separator = /[\n\t]/.test(text) ? /[\n\r\t]+/ : /,/;
  const values = text.split(separator).map((value) => value.trim());
  // An empty last line is kept as an empty value, so that the user can type the next one there.
  const isTyping = text.endsWith('\n');
  return [...new Set(values.filter((value) => value !== '')), ...(isTyping ? [''] : [])];
}

/** A time in the format of an input of the type `datetime-local`, in the time zone of the browser; empty if it is not a time. */
export function localTime(value: string): string {
  const time = new Date(value);
  if (value === '' || Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Divides `total` evenly; the first variants get one more while it does not divide evenly. */
function distribute(variants: readonly StrategyVariant[], total: number): StrategyVariant[] {
  const each = Math.floor(total / Math.max(1, variants.length));
  const remainder = total - each * variants.length;
  return variants.map((variant, index) => ({ ...variant, weight: each + (index < remainder ? 1 : 0) }));
}

/** Gives all variable variants the same weight, so that the sum of all weights, with the fixed ones, is 1000. */
export function withEqualWeights(variants: readonly StrategyVariant[]): StrategyVariant[] {
  const fixed = variants.filter(({ weightType }) => weightType === 'fix').reduce((sum, { weight }) => sum + weight, 0);
  const variable = distribute(
    variants.filter(({ weightType }) => weightType !== 'fix'),
    Math.max(0, totalWeight - fixed),
  );
  let nextVariable = 0;
  return variants.map((variant) =>
    variant.weightType === 'fix' ? variant : (variable[nextVariable++] as StrategyVariant),
  );
}

/** Fixes the weight of one variant, in thousandths. The variable ones get equal shares of what the fixed ones leave. */
export function withWeight(variants: readonly StrategyVariant[], index: number, weight: number): StrategyVariant[] {
  const bounded = Number.isFinite(weight) ? Math.min(totalWeight, Math.max(0, weight)) : 0;
  const isLastVariable = variants.every(({ weightType }, other) => other === index || weightType === 'fix');
  return withEqualWeights(
    variants.map((variant, other) => {
      if (other === index) return { ...variant, weight: bounded, weightType: 'fix' };
      // If no variable variant is left, another one becomes variable and gets the remaining weight.
      return isLastVariable && other === (index === 0 ? variants.length - 1 : 0)
        ? { ...variant, weightType: 'variable' }
        : variant;
    }),
  );
}

/** An example user: the line that describes it, and the context that the line stands for. */
export interface ExampleUser {
  readonly text: string;
  readonly context: Readonly<Record<string, string>>;
}

const maxExamples = 20;
const pair = /([\w.-]+)\s*=\s*("[^"]*"|[^\s,]+)/g;

/** Reads example users, one on each line: `userId=ann country=no plan="pro plus"`. A line without `=` is the id of a user. */
export function parseExampleUsers(text: string): ExampleUser[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, maxExamples)
    .map((line) => {
      const pairs = [...line.matchAll(pair)].map(([, name = '', value = '']): [string, string] => [
        name,
        value.replace(/^"(.*)"$/, '$1'),
      ]);
      return { text: line, context: pairs.length === 0 ? { userId: line } : Object.fromEntries(pairs) };
    });
}

/** Says how many of the example users a constraint matches. @param matches for each of them */
export function matchesText(matches: readonly boolean[]): string {
  const count = matches.filter(Boolean).length;
  if (matches.length === 1) return count === 1 ? 'Matches your example user.' : 'Does not match your example user.';
  return `Matches ${count} of your ${matches.length} example users.`;
}
