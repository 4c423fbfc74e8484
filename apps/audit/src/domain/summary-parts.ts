import type { Event } from '@bunting/contracts';
import { bold, boldLink, escapeMarkdown } from '../search/markdown.ts';
import { memberText } from './json-members.ts';
import { strategyLabel } from '../search/describe-strategy-change.ts';

/** An event of the log, without label and summary. */
export type LoggedEvent = Omit<Event, 'label' | 'summary'>;

/** Describes an event, or a part of it, in Markdown. @param base the URL that links begin with */
export type SummaryPart = (event: LoggedEvent, base: string) => string;

export const userPart: SummaryPart = ({ createdBy }) => bold(createdBy);
export const environmentPart: SummaryPart = (event) => bold(event.environment ?? '');

/** The name of the flag alone, for a flag that does not exist any more. */
export const flagNamePart: SummaryPart = ({ featureName }) => bold(featureName ?? '');

export const flagPart: SummaryPart = ({ project: id, featureName }, base) =>
  typeof id === 'string' && typeof featureName === 'string'
    ? boldLink(featureName, base, 'projects', id, 'features', featureName)
    : bold(featureName ?? '');

/** The id of the project alone, for a project that does not exist any more. */
export const projectNamePart: SummaryPart = ({ project: id }) => bold(id ?? '');

export const projectPart: SummaryPart = ({ project: id }, base) =>
  typeof id === 'string' ? boldLink(id, base, 'projects', id) : bold('');

export const inProject: SummaryPart = (event, base) =>
  typeof event.project === 'string' ? ` in project ${projectPart(event, base)}` : '';

export const inEnvironmentOfProject: SummaryPart = (event, base) =>
  `${typeof event.environment === 'string' ? ` in the ${environmentPart(event, base)} environment` : ''}${inProject(event, base)}`;

export const forEnvironment: SummaryPart = (event, base) =>
  ` for the ${environmentPart(event, base)} environment${inProject(event, base)}`;

/** The subject of the event: its new state or, after a deletion, its previous one. */
const subject = ({ data, preData }: LoggedEvent): unknown => data ?? preData;

export const tagPart: SummaryPart = (event) =>
  bold(`${memberText(subject(event), 'type') ?? ''}:${memberText(subject(event), 'value') ?? ''}`);

export const strategyPart: SummaryPart = (event) => bold(strategyLabel(subject(event)));

/** The name of a segment, a user or another subject. */
export const subjectNamePart: SummaryPart = (event) => {
  const keys = ['name', 'tokenName', 'username', 'email', 'provider', 'id'];
  const names = keys.flatMap((key) => memberText(subject(event), key) ?? []);
  return bold(names[0] ?? '');
};

export const changeRequestPart: SummaryPart = (event, base) => {
  const number = `#${memberText(event.data, 'changeRequestId') ?? memberText(event.preData, 'changeRequestId') ?? ''}`;
  return typeof event.project === 'string' && number !== '#'
    ? boldLink(number, base, 'projects', event.project, 'change-requests', number.slice(1))
    : bold(number);
};

/** A colon and the `reason` of the data, if there is one. */
export const reasonPart: SummaryPart = ({ data }) => {
  const reason = memberText(data, 'reason');
  return reason === undefined ? '' : `: ${escapeMarkdown(reason)}`;
};

/** The scheduled date in the data, if any. */
export const scheduledFor: SummaryPart = ({ data }) => {
  const date = memberText(data, 'scheduledDate');
  return date === undefined ? '' : ` for ${bold(date)}`;
};
