import { Address4, Address6 } from 'ip-address';
import { RE2JS } from 're2js';
import compare from 'semver/functions/compare.js';
import valid from 'semver/functions/valid.js';

/** The user and the time for which features are evaluated. */
export interface EvaluationContext {
  /** the values of context fields, by name */
  readonly fields: ReadonlyMap<string, string>;
  readonly now: Date;
  /** a random number from 0 to below 1, for users without a sticky key */
  readonly random: () => number;
  /** called with each time, in milliseconds since 1970, that `now` is compared with */
  readonly comparesTime?: (time: number) => void;
}

/** A context that knows for how long its results hold. */
export interface ObservedContext extends EvaluationContext {
  /** The time in milliseconds since 1970 before which, from `now` on, another evaluation has the same results; `now` where none has. */
  readonly holdsUntil: () => number;
}

/** A context that observes whether its results depend on chance and time. */
export function observedContext({ fields, now, random }: EvaluationContext): ObservedContext {
  const time = now.getTime();
  let until = Number.POSITIVE_INFINITY;
  return {
    fields,
    now,
    random: () => {
      until = time;
      return random();
    },
    comparesTime: (compared) => {
      // At the time itself neither operator holds, and a millisecond later one does.
      if (compared >= time) until = Math.min(until, Math.max(compared, time + 1));
    },
    holdsUntil: () => until,
  };
}

/** A function of the context, compiled once per feature and evaluated per user. */
export type Predicate = (context: EvaluationContext) => boolean;

/** The value of a field; undefined where the context has none, or an empty one. */
export function fieldValue({ fields }: EvaluationContext, field: string): string | undefined {
  return fields.get(field) || undefined;
}

/** A sticky key for a user who has none: a new random one on each call. */
export function randomKey({ random }: EvaluationContext): string {
  return String(Math.floor(random() * 100_000) + 1);
}

/** A constraint as SDKs receive it. It may have operators that Bunting does not store, such as those of an import. */
export interface EvaluableConstraint {
  readonly contextName: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
  readonly value?: string | undefined;
  readonly caseInsensitive?: boolean | undefined;
  readonly inverted?: boolean | undefined;
}

type ConstraintCompiler = (constraint: EvaluableConstraint) => Predicate;

const matchesNobody: Predicate = () => false;

function nonEmptyValues({ values = [] }: EvaluableConstraint): string[] {
  return values.map((value) => value.trim()).filter((value) => value !== '');
}

/** The values of a field for which a constraint matches, and for no others; undefined for a constraint that no list decides. */
export function listedValues(constraint: EvaluableConstraint): readonly string[] | undefined {
  return constraint.operator === 'IN' && constraint.inverted !== true ? nonEmptyValues(constraint) : undefined;
}

function listCompiler(expected: boolean): ConstraintCompiler {
  return (constraint) => {
    const values = new Set(nonEmptyValues(constraint));
    return (context) => values.has(fieldValue(context, constraint.contextName) ?? '') === expected;
  };
}

function textCompiler(holds: (actual: string, value: string) => boolean): ConstraintCompiler {
  return (constraint) => {
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
}

/**
 * The number that a text denotes; NaN for other texts. A blank and a number in another base are numbers to JavaScript, and to the SDK for
 * Node.js, but to no other SDK: a user without a number must not count as one with 0.
 */
function numberOf(text = ''): number {
  return /^\s*($|0[box])/i.test(text) ? Number.NaN : Number(text);
}

function numberCompiler(holds: (actual: number, value: number) => boolean): ConstraintCompiler {
  return ({ contextName, value: operand }) => {
    const value = numberOf(operand);
    return (context) => holds(numberOf(fieldValue(context, contextName)), value);
  };
}

/** Date operators compare the field `currentTime` of the context, or without it the current time, whatever field the constraint names. */
function dateCompiler(holds: (actual: number, value: number) => boolean): ConstraintCompiler {
  return ({ value: operand }) => {
    const value = Date.parse(operand ?? '');
    return (context) => {
      const contextValue = fieldValue(context, 'currentTime');
      if (contextValue !== undefined) return holds(Date.parse(contextValue), value);
      context.comparesTime?.(value);
      return holds(context.now.getTime(), value);
    };
  };
}

function isVersion(value: string): boolean {
  return value.length <= 256 && !value.startsWith('v') && valid(value) !== null;
}

function semverCompiler(holds: (order: number) => boolean): ConstraintCompiler {
  return ({ contextName, value = '' }) => {
    if (!isVersion(value)) return matchesNobody;
    return (context) => {
      const contextValue = fieldValue(context, contextName);
      return contextValue !== undefined && isVersion(contextValue) && holds(compare(contextValue, value));
    };
  };
}

/**
 * The maximum length of a context value that is matched with a pattern; longer ones do not match. Users of frontends choose the value,
 * and the time of a match grows with its length.
 */
const maxMatchedLength = 1_000;

const compileRegex: ConstraintCompiler = ({ contextName, value = '', caseInsensitive = false }) => {
  try {
    const expression = RE2JS.compile(value, caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
    return (context) => {
      const contextValue = fieldValue(context, contextName);
      return (
        contextValue !== undefined && contextValue.length <= maxMatchedLength && expression.matcher(contextValue).find()
      );
    };
  } catch {
    return matchesNobody;
  }
};

/** An IP address, or a network in CIDR notation. */
type Address = Address4 | Address6;
/** The limit above which a text is not parsed as an address. No address is as long, with its prefix length. */
const maxAddressLength = 64;

const mappedAddresses = new Address6('::ffff:0:0/96');

/** An IPv4 address that is written as one of IPv6, as sockets for both do, is one of IPv4. So the SDK for Go reads it. */
function parseAddress(value: string): Address | undefined {
  if (value.length > maxAddressLength) return undefined;
  if (Address4.isValid(value)) return new Address4(value);
  if (!Address6.isValid(value)) return undefined;
  const address = new Address6(value);
  if (!address.isInSubnet(mappedAddresses)) return address;
  return new Address4(`${address.to4().correctForm()}/${address.subnetMask - mappedAddresses.subnetMask}`);
}

function isWithin(address: Address, network: Address): boolean {
  return (
    address instanceof Address4 === network instanceof Address4 && address.isInSubnet(network as Address4 & Address6)
  );
}

/**
 * Returns a function that matches an IP address that is listed or within a listed network. Entries that are neither match only an equal
 * text.
 */
export function addressMatcher(values: readonly string[]): (contextValue: string | undefined) => boolean {
  const listed = new Set(values);
  const networks = values.flatMap((value) => parseAddress(value) ?? []);
  return (contextValue) => {
    if (contextValue === undefined) return false;
    if (listed.has(contextValue)) return true;
    const address = parseAddress(contextValue);
    return address !== undefined && networks.some((network) => isWithin(address, network));
  };
}

const compileCidr: ConstraintCompiler = (constraint) => {
  // Unlike in the strategy type `remoteAddress`, an entry that is no address matches no text, not even an equal one.
  const matches = addressMatcher(nonEmptyValues(constraint).filter((value) => parseAddress(value) !== undefined));
  return (context) => matches(fieldValue(context, constraint.contextName));
};

const compilers = new Map<string, ConstraintCompiler>(
  Object.entries({
    IN: listCompiler(true),
    NOT_IN: listCompiler(false),
    STR_STARTS_WITH: textCompiler((actual, value) => actual.startsWith(value)),
    STR_ENDS_WITH: textCompiler((actual, value) => actual.endsWith(value)),
    STR_CONTAINS: textCompiler((actual, value) => actual.includes(value)),
    NUM_EQ: numberCompiler((actual, value) => actual === value),
    NUM_GT: numberCompiler((actual, value) => actual > value),
    NUM_GTE: numberCompiler((actual, value) => actual >= value),
    NUM_LT: numberCompiler((actual, value) => actual < value),
    NUM_LTE: numberCompiler((actual, value) => actual <= value),
    DATE_AFTER: dateCompiler((actual, value) => actual > value),
    DATE_BEFORE: dateCompiler((actual, value) => actual < value),
    SEMVER_EQ: semverCompiler((order) => order === 0),
    SEMVER_GT: semverCompiler((order) => order > 0),
    SEMVER_GTE: semverCompiler((order) => order >= 0),
    SEMVER_LT: semverCompiler((order) => order < 0),
    SEMVER_LTE: semverCompiler((order) => order <= 0),
    REGEX: compileRegex,
    IN_CIDR: compileCidr,
  }),
);

/** Compiles a constraint. An unknown operator matches no user, inverted or not. */
export function compileConstraint(constraint: EvaluableConstraint): Predicate {
  const predicate = compilers.get(constraint.operator)?.(constraint);
  if (predicate === undefined) return matchesNobody;
  return constraint.inverted === true ? (context) => !predicate(context) : predicate;
}
