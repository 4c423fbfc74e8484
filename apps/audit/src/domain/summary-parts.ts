import type { Event } from '@bunting/contracts';
import { bold, boldLink, escapeMarkdown } from './markdown.ts';
import { textOf } from './json-members.ts';
import { strategyName } from './strategy-change.ts';

/** An event of the log, without label and summary. */
export type LoggedEvent = Omit<Event, 'label' | 'summary'>;

/** Describes an event, or a part of it, in Markdown. @param base the address that links begin with */
export type SummaryPart = (event: LoggedEvent, base: string) => string;

export const user: SummaryPart = ({ createdBy }) => bold(createdBy);
export const environment: SummaryPart = (event) => bold(event.environment ?? '');

/** The name of the flag alone, for a flag that is not there any more. */
export const flagName: SummaryPart = ({ featureName }) => bold(featureName ?? '');

export const flag: SummaryPart = ({ project: id, featureName }, base) =>
  typeof id === 'string' && typeof featureName === 'string'
    ? boldLink(featureName, base, 'projects', id, 'features', featureName)
    : bold(featureName ?? '');

/** The id of the project alone, for a project that is not there any more. */
export const projectName: SummaryPart = ({ project: id }) => bold(id ?? '');

export const project: SummaryPart = ({ project: id }, base) =>
  typeof id === 'string' ? boldLink(id, base, 'projects', id) : bold('');

export const inProject: SummaryPart = (event, base) =>
  typeof event.project === 'string' ? ` in project ${project(event, base)}` : '';

export const inEnvironmentOfProject: SummaryPart = (event, base) =>
  `${typeof event.environment === 'string' ? ` in the ${environment(event, base)} environment` : ''}${inProject(event, base)}`;

export const forEnvironment: SummaryPart = (event, base) =>
  ` for the ${environment(event, base)} environment${inProject(event, base)}`;

/** The subject of the event: its new state or, after a deletion, its previous one. */
const subject = ({ data, preData }: LoggedEvent): unknown => data ?? preData;

export const tag: SummaryPart = (event) =>
  bold(`${textOf(subject(event), 'type') ?? ''}:${textOf(subject(event), 'value') ?? ''}`);

export const strategy: SummaryPart = (event) => bold(strategyName(subject(event)));

/** The name of a segment, a user or another subject. */
export const subjectName: SummaryPart = (event) => {
  const keys = ['name', 'tokenName', 'username', 'email', 'provider', 'id'];
  const names = keys.flatMap((key) => textOf(subject(event), key) ?? []);
  return bold(names[0] ?? '');
};

export const changeRequest: SummaryPart = (event, base) => {
  const number = `#${textOf(event.data, 'changeRequestId') ?? textOf(event.preData, 'changeRequestId') ?? ''}`;
  return typeof event.project === 'string' && number !== '#'
    ? boldLink(number, base, 'projects', event.project, 'change-requests', number.slice(1))
    : bold(number);
};

/** A colon and the `reason` of the data, if there is one. */
export const because: SummaryPart = ({ data }) => {
  const reason = textOf(data, 'reason');
  return reason === undefined ? '' : `: ${escapeMarkdown(reason)}`;
};

/** The scheduled date in the data, if any. */
export const scheduledFor: SummaryPart = ({ data }) => {
  const date = textOf(data, 'scheduledDate');
  return date === undefined ? '' : ` for ${bold(date)}`;
};
