import type { Event } from '@bunting/contracts';
import { bold, boldLink, plain } from './markdown.ts';
import { textOf } from './json-members.ts';
import { strategyName } from './strategy-change.ts';

/** An event as the log holds it, before anybody has put it into words. */
export type LoggedEvent = Omit<Event, 'label' | 'summary'>;

/** Puts an event, or a part of it, into words; `base` is where links begin. */
export type Words = (event: LoggedEvent, base: string) => string;

export const user: Words = ({ createdBy }) => bold(createdBy);
export const environment: Words = (event) => bold(event.environment ?? '');

/** The name of the flag alone, for a flag that is not there any more. */
export const flagName: Words = ({ featureName }) => bold(featureName ?? '');

export const flag: Words = ({ project: id, featureName }, base) =>
  typeof id === 'string' && typeof featureName === 'string'
    ? boldLink(featureName, base, 'projects', id, 'features', featureName)
    : bold(featureName ?? '');

/** The id of the project alone, for a project that is not there any more. */
export const projectName: Words = ({ project: id }) => bold(id ?? '');

export const project: Words = ({ project: id }, base) =>
  typeof id === 'string' ? boldLink(id, base, 'projects', id) : bold('');

export const inProject: Words = (event, base) =>
  typeof event.project === 'string' ? ` in project ${project(event, base)}` : '';

export const inEnvironment: Words = (event, base) =>
  `${typeof event.environment === 'string' ? ` in the ${environment(event, base)} environment` : ''}${inProject(event, base)}`;

export const forEnvironment: Words = (event, base) =>
  ` for the ${environment(event, base)} environment${inProject(event, base)}`;

/** What the event is about: what it became or, once it is gone, what it was. */
const subject = ({ data, preData }: LoggedEvent): unknown => data ?? preData;

export const tag: Words = (event) =>
  bold(`${textOf(subject(event), 'type') ?? ''}:${textOf(subject(event), 'value') ?? ''}`);

export const strategy: Words = (event) => bold(strategyName(subject(event)));

/** What a segment, a user or the like is called. */
export const subjectName: Words = (event) => {
  const keys = ['name', 'tokenName', 'username', 'email', 'provider', 'id'];
  const names = keys.flatMap((key) => textOf(subject(event), key) ?? []);
  return bold(names[0] ?? '');
};

export const changeRequest: Words = (event, base) => {
  const number = `#${textOf(event.data, 'changeRequestId') ?? textOf(event.preData, 'changeRequestId') ?? ''}`;
  return typeof event.project === 'string' && number !== '#'
    ? boldLink(number, base, 'projects', event.project, 'change-requests', number.slice(1))
    : bold(number);
};

/** A colon and the reason that the data gives, if it gives one. */
export const because: Words = ({ data }) => {
  const reason = textOf(data, 'reason');
  return reason === undefined ? '' : `: ${plain(reason)}`;
};

/** When something is to happen, if the data tells. */
export const scheduledFor: Words = ({ data }) => {
  const date = textOf(data, 'scheduledDate');
  return date === undefined ? '' : ` for ${bold(date)}`;
};
