import { Address4, Address6 } from 'ip-address';
import { RE2JS } from 're2js';
import { compare, valid } from 'semver';
import { fieldValue, type Predicate } from './evaluation-context.ts';

/** A constraint as SDKs receive it. It may have operators that Bunting does not store, such as those of an import. */
export interface EvaluableConstraint {
  readonly contextName: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
  readonly value?: string | undefined;
  readonly caseInsensitive?: boolean | undefined;
  readonly inverted?: boolean | undefined;
}

type Compile = (constraint: EvaluableConstraint) => Predicate;

const never: Predicate = () => false;

const nonEmptyValues = ({ values = [] }: EvaluableConstraint): string[] =>
  values.map((value) => value.trim()).filter((value) => value !== '');

const isAmong =
  (expected: boolean): Compile =>
  (constraint) => {
    const values = new Set(nonEmptyValues(constraint));
    return (context) => values.has(fieldValue(context, constraint.contextName) ?? '') === expected;
  };

const text =
  (holds: (actual: string, value: string) => boolean): Compile =>
  (constraint) => {
    const { contextName, caseInsensitive = false } = constraint;
    const normalise = (value: string): string => (caseInsensitive ? value.toLowerCase() : value);
    const values = nonEmptyValues(constraint).map(normalise);
    return (context) => {
      const contextValue = fieldValue(context, contextName);
      if (contextValue === undefined) return false;
      const actual = normalise(contextValue);
      return values.some((value) => holds(actual, value));
    };
  };

const number =
  (holds: (actual: number, value: number) => boolean): Compile =>
  ({ contextName, value: operand }) => {
    const value = Number(operand);
    return (context) => holds(Number(fieldValue(context, contextName) ?? Number.NaN), value);
  };

/** Date operators compare `currentTime` of the context, otherwise the current time, whatever field the constraint names. */
const date =
  (holds: (actual: number, value: number) => boolean): Compile =>
  ({ value: operand }) => {
    const value = Date.parse(operand ?? '');
    return (context) => {
      const contextValue = fieldValue(context, 'currentTime');
      return holds(contextValue === undefined ? context.now.getTime() : Date.parse(contextValue), value);
    };
  };

const isVersion = (value: string): boolean => value.length <= 256 && !value.startsWith('v') && valid(value) !== null;

const semver =
  (holds: (order: number) => boolean): Compile =>
  ({ contextName, value = '' }) => {
    if (!isVersion(value)) return never;
    return (context) => {
      const contextValue = fieldValue(context, contextName);
      return contextValue !== undefined && isVersion(contextValue) && holds(compare(contextValue, value));
    };
  };

/** Longer texts match no pattern: the time of a match grows with the text, which users of frontends choose. */
const maxMatchedLength = 1_000;

const regex: Compile = ({ contextName, value = '', caseInsensitive = false }) => {
  try {
    const expression = RE2JS.compile(value, caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
    return (context) => {
      const contextValue = fieldValue(context, contextName);
      return (
        contextValue !== undefined && contextValue.length <= maxMatchedLength && expression.matcher(contextValue).find()
      );
    };
  } catch {
    return never;
  }
};

type Address = Address4 | Address6;
/** More characters than any address has, with its prefix. */
const maxAddressLength = 64;

const addressOf = (value: string): Address | undefined => {
  if (value.length > maxAddressLength) return undefined;
  if (Address4.isValid(value)) return new Address4(value);
  return Address6.isValid(value) ? new Address6(value) : undefined;
};

const isWithin = (address: Address, network: Address): boolean =>
  address instanceof Address4 === network instanceof Address4 && address.isInSubnet(network as Address4 & Address6);

/** Matches an address that is listed or within a listed network. Entries that are neither match only an equal text. */
export const addressMatcher = (values: readonly string[]): ((contextValue: string | undefined) => boolean) => {
  const exact = new Set(values);
  const networks = values.flatMap((value) => addressOf(value) ?? []);
  return (contextValue) => {
    if (contextValue === undefined) return false;
    if (exact.has(contextValue)) return true;
    const address = addressOf(contextValue);
    return address !== undefined && networks.some((network) => isWithin(address, network));
  };
};

const cidr: Compile = (constraint) => {
  // Entries that are no addresses must not match a text that is equal to them.
  const matches = addressMatcher(nonEmptyValues(constraint).filter((value) => addressOf(value) !== undefined));
  return (context) => matches(fieldValue(context, constraint.contextName));
};

const compilers = new Map<string, Compile>(
  Object.entries({
    IN: isAmong(true),
    NOT_IN: isAmong(false),
    STR_STARTS_WITH: text((actual, value) => actual.startsWith(value)),
    STR_ENDS_WITH: text((actual, value) => actual.endsWith(value)),
    STR_CONTAINS: text((actual, value) => actual.includes(value)),
    NUM_EQ: number((actual, value) => actual === value),
    NUM_GT: number((actual, value) => actual > value),
    NUM_GTE: number((actual, value) => actual >= value),
    NUM_LT: number((actual, value) => actual < value),
    NUM_LTE: number((actual, value) => actual <= value),
    DATE_AFTER: date((actual, value) => actual > value),
    DATE_BEFORE: date((actual, value) => actual < value),
    SEMVER_EQ: semver((order) => order === 0),
    SEMVER_GT: semver((order) => order > 0),
    SEMVER_GTE: semver((order) => order >= 0),
    SEMVER_LT: semver((order) => order < 0),
    SEMVER_LTE: semver((order) => order <= 0),
    REGEX: regex,
    IN_CIDR: cidr,
  }),
);

/** Compiles a constraint. An unknown operator matches no user, inverted or not. */
export const compileConstraint = (constraint: EvaluableConstraint): Predicate => {
  const predicate = compilers.get(constraint.operator)?.(constraint);
  if (predicate === undefined) return never;
  return constraint.inverted === true ? (context) => !predicate(context) : predicate;
};
