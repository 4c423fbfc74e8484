import { comparableMember, type ConstraintOperator, isEqual, memberOf } from '@bunting/contracts';
import { bold, joinTruncated, escapeMarkdown } from './markdown.ts';
import { listMember, scalarText, memberText } from '../log/redaction.ts';

const wordsOfOperators: Readonly<Record<ConstraintOperator, string>> = {
  IN: 'is one of',
  NOT_IN: 'is not one of',
  STR_CONTAINS: 'is a string that contains',
  STR_STARTS_WITH: 'is a string that starts with',
  STR_ENDS_WITH: 'is a string that ends with',
  NUM_EQ: 'is a number equal to',
  NUM_GT: 'is a number greater than',
  NUM_GTE: 'is a number greater than or equal to',
  NUM_LT: 'is a number less than',
  NUM_LTE: 'is a number less than or equal to',
  DATE_BEFORE: 'is a date before',
  DATE_AFTER: 'is a date after',
  SEMVER_EQ: 'is a SemVer equal to',
  SEMVER_GT: 'is a SemVer greater than',
  SEMVER_LT: 'is a SemVer less than',
  SEMVER_GTE: 'is a SemVer greater than or equal to',
  SEMVER_LTE: 'is a SemVer less than or equal to',
  REGEX: 'matches the regular expression',
};
/** A map, since the operator of a stored event may be any text. */
const operatorWords = new Map<string, string>(Object.entries(wordsOfOperators));

/** By the name of a strategy whose only parameter is a list, separated by commas: the name of that parameter. */
const listParameters = new Map([
  ['remoteAddress', 'IPs'],
  ['applicationHostname', 'hostNames'],
  ['userWithId', 'userIds'],
]);

/** The label of a strategy: its title, else its name. */
export function strategyLabel(strategy: unknown): string {
  return memberText(strategy, 'title') ?? memberText(strategy, 'name') ?? 'unknown';
}

function inParentheses(items: readonly string[]): string {
  return `(${joinTruncated(items.map(escapeMarkdown), ',')})`;
}
function texts(list: readonly unknown[]): string[] {
  return list.flatMap((item) => scalarText(item) ?? []);
}

function constraintText(constraint: unknown): string {
  const operator = memberText(constraint, 'operator') ?? '';
  const negation = memberOf(constraint, 'inverted') === true ? 'not ' : '';
  const values = texts(listMember(constraint, 'values'));
  const single = memberText(constraint, 'value');
  const compared = values.length === 0 && single !== undefined ? escapeMarkdown(single) : inParentheses(values);
  const context = escapeMarkdown(memberText(constraint, 'contextName') ?? 'unknown');
  return `${context} ${negation}${operatorWords.get(operator) ?? escapeMarkdown(operator)} ${compared}`;
}

function constraintsText(strategy: unknown): string {
  const constraints = listMember(strategy, 'constraints');
  return constraints.length === 0
    ? 'empty set of constraints'
    : `[${joinTruncated(constraints.map(constraintText), ', ')}]`;
}

function segmentsText(strategy: unknown): string {
  const segments = texts(listMember(strategy, 'segments'));
  return segments.length === 0 ? 'empty set of segments' : inParentheses(segments);
}

function parameterText(strategy: unknown, name: string): string | undefined {
  return memberText(memberOf(strategy, 'parameters'), name);
}

function listParameterText(strategy: unknown, name: string): string {
  const items = (parameterText(strategy, name) ?? '').split(',').flatMap((item) => item.trim() || []);
  return items.length === 0 ? `empty set of ${name}` : inParentheses(items);
}

function changeText(subject: string, before: string | undefined, after: string | undefined): string {
  if (before === after) return '';
  if (before === undefined) return ` ${subject} to ${after}`;
  return ` ${subject} from ${before} to ${after ?? 'nothing'}`;
}

/** Describes the change of a list of a strategy. Equal lists, the common case, are detected before they are formatted. */
function listChange(name: string, before: unknown, after: unknown, textOfList: (strategy: unknown) => string): string {
  return isEqual(comparableMember(name, listMember(before, name)), comparableMember(name, listMember(after, name)))
    ? ''
    : changeText(name, textOfList(before), textOfList(after));
}

function parameterParts(before: unknown, after: unknown): string[] {
  const listName = listParameters.get(memberText(after, 'name') ?? '');
  if (listName !== undefined)
    return [changeText(listName, listParameterText(before, listName), listParameterText(after, listName))];
  const changeOf = (name: string, unit = ''): string => {
    const [from, to] = [before, after].map((strategy) => {
      const value = parameterText(strategy, name);
      return value === undefined ? undefined : `${escapeMarkdown(value)}${unit}`;
    });
    return changeText(name, from, to);
  };
  return [changeOf('stickiness'), changeOf('rollout', '%'), changeOf('groupId')];
}

/** The change of a strategy, for the end of a sentence. It leaves out titles, variants and whether the strategy is disabled. */
export function describeStrategyChange(before: unknown, after: unknown, environment: string): string {
  const parts = [
    ...parameterParts(before, after),
    listChange('constraints', before, after, constraintsText),
    listChange('segments', before, after, segmentsText),
  ];
  const changes = parts.filter((part) => part !== '').join(';');
  return `by updating strategy ${bold(strategyLabel(after))} in ${bold(environment)}${changes}`;
}
