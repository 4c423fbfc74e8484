import { Address4, Address6 } from 'ip-address';
import { RE2JS } from 're2js';
import { compare, valid } from 'semver';
import { type Situation, valueOf } from './situation.ts';

/** A constraint as SDKs know it. The operators are more than those that can be stored here: what is evaluated may come from elsewhere. */
export interface EvaluatedConstraint {
  readonly contextName: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
  readonly value?: string | undefined;
  readonly caseInsensitive?: boolean | undefined;
  readonly inverted?: boolean | undefined;
}

export type Condition = (situation: Situation) => boolean;

type Compile = (constraint: EvaluatedConstraint) => Condition;

const never: Condition = () => false;

const valuesOf = ({ values = [] }: EvaluatedConstraint): string[] =>
  values.map((value) => value.trim()).filter((value) => value !== '');

const among =
  (wanted: boolean): Compile =>
  (constraint) => {
    const values = new Set(valuesOf(constraint));
    return (situation) => values.has(valueOf(situation, constraint.contextName) ?? '') === wanted;
  };

const text =
  (holds: (given: string, value: string) => boolean): Compile =>
  (constraint) => {
    const { contextName, caseInsensitive = false } = constraint;
    const written = (value: string): string => (caseInsensitive ? value.toLowerCase() : value);
    const values = valuesOf(constraint).map(written);
    return (situation) => {
      const given = valueOf(situation, contextName);
      if (given === undefined) return false;
      const compared = written(given);
      return values.some((value) => holds(compared, value));
    };
  };

const number =
  (holds: (given: number, value: number) => boolean): Compile =>
  ({ contextName, value: wanted }) => {
    const value = Number(wanted);
    return (situation) => holds(Number(valueOf(situation, contextName) ?? Number.NaN), value);
  };

/** Dates are compared with the time, whatever the field is called: with that of the context, if it has one. */
const date =
  (holds: (given: number, value: number) => boolean): Compile =>
  ({ value: wanted }) => {
    const value = Date.parse(wanted ?? '');
    return (situation) => {
      const given = valueOf(situation, 'currentTime');
      return holds(given === undefined ? situation.now.getTime() : Date.parse(given), value);
    };
  };

const isVersion = (value: string): boolean => value.length <= 256 && !value.startsWith('v') && valid(value) !== null;

const semver =
  (holds: (order: number) => boolean): Compile =>
  ({ contextName, value = '' }) => {
    if (!isVersion(value)) return never;
    return (situation) => {
      const given = valueOf(situation, contextName);
      return given !== undefined && isVersion(given) && holds(compare(given, value));
    };
  };

const regex: Compile = ({ contextName, value = '', caseInsensitive = false }) => {
  try {
    const expression = RE2JS.compile(value, caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
    return (situation) => {
      const given = valueOf(situation, contextName);
      return given !== undefined && expression.matcher(given).find();
    };
  } catch {
    return never;
  }
};

type Address = Address4 | Address6;
/** Longer than any address is, with its prefix. */
const longestAddress = 64;

const addressOf = (value: string): Address | undefined => {
  if (value.length > longestAddress) return undefined;
  if (Address4.isValid(value)) return new Address4(value);
  return Address6.isValid(value) ? new Address6(value) : undefined;
};

const isWithin = (address: Address, network: Address): boolean =>
  address instanceof Address4 === network instanceof Address4 && address.isInSubnet(network as Address4 & Address6);

/** Whether an address is one of those, or in one of those networks; what is neither is passed over. */
export const addressesAmong = (values: readonly string[]): ((given: string | undefined) => boolean) => {
  const exact = new Set(values);
  const networks = values.flatMap((value) => addressOf(value) ?? []);
  return (given) => {
    if (given === undefined) return false;
    if (exact.has(given)) return true;
    const address = addressOf(given);
    return address !== undefined && networks.some((network) => isWithin(address, network));
  };
};

const cidr: Compile = (constraint) => {
  // A text that is no address is in no network, not even in one that is written like it.
  const isAmong = addressesAmong(valuesOf(constraint).filter((value) => addressOf(value) !== undefined));
  return (situation) => isAmong(valueOf(situation, constraint.contextName));
};

const compilers = new Map<string, Compile>(
  Object.entries({
    IN: among(true),
    NOT_IN: among(false),
    STR_STARTS_WITH: text((given, value) => given.startsWith(value)),
    STR_ENDS_WITH: text((given, value) => given.endsWith(value)),
    STR_CONTAINS: text((given, value) => given.includes(value)),
    NUM_EQ: number((given, value) => given === value),
    NUM_GT: number((given, value) => given > value),
    NUM_GTE: number((given, value) => given >= value),
    NUM_LT: number((given, value) => given < value),
    NUM_LTE: number((given, value) => given <= value),
    DATE_AFTER: date((given, value) => given > value),
    DATE_BEFORE: date((given, value) => given < value),
    SEMVER_EQ: semver((order) => order === 0),
    SEMVER_GT: semver((order) => order > 0),
    SEMVER_GTE: semver((order) => order >= 0),
    SEMVER_LT: semver((order) => order < 0),
    SEMVER_LTE: semver((order) => order <= 0),
    REGEX: regex,
    IN_CIDR: cidr,
  }),
);

/** What a constraint comes to. Nobody knows what an unknown operator means: it holds for nobody, inverted or not. */
export const conditionOf = (constraint: EvaluatedConstraint): Condition => {
  const condition = compilers.get(constraint.operator)?.(constraint);
  if (condition === undefined) return never;
  return constraint.inverted === true ? (situation) => !condition(situation) : condition;
};
