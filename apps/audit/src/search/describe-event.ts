import type { AdditionalEventType, Event, EventType } from '@bunting/contracts';
import { memberText } from '../log/redaction.ts';
import { describeStrategyChange, strategyLabel } from './describe-strategy-change.ts';
import { bold, boldLink, escapeMarkdown } from './markdown.ts';

/** An event of the log, without label and summary. */
export type LoggedEvent = Omit<Event, 'label' | 'summary'>;

/** Describes an event, or a part of it, in Markdown. @param base the URL that links begin with */
type SummaryPart = (event: LoggedEvent, base: string) => string;

const userPart: SummaryPart = ({ createdBy }) => bold(createdBy);
const environmentPart: SummaryPart = (event) => bold(event.environment ?? '');

/** The name of the flag alone, for a flag that does not exist any more. */
const flagNamePart: SummaryPart = ({ featureName }) => bold(featureName ?? '');

const flagPart: SummaryPart = ({ project: id, featureName }, base) =>
  typeof id === 'string' && typeof featureName === 'string'
    ? boldLink(featureName, base, 'projects', id, 'features', featureName)
    : bold(featureName ?? '');

/** The id of the project alone, for a project that does not exist any more. */
const projectNamePart: SummaryPart = ({ project: id }) => bold(id ?? '');

const projectPart: SummaryPart = ({ project: id }, base) =>
  typeof id === 'string' ? boldLink(id, base, 'projects', id) : bold('');

const inProject: SummaryPart = (event, base) =>
  typeof event.project === 'string' ? ` in project ${projectPart(event, base)}` : '';

const inEnvironmentOfProject: SummaryPart = (event, base) =>
  `${typeof event.environment === 'string' ? ` in the ${environmentPart(event, base)} environment` : ''}${inProject(event, base)}`;

const forEnvironment: SummaryPart = (event, base) =>
  ` for the ${environmentPart(event, base)} environment${inProject(event, base)}`;

/** The subject of the event: its new state or, after a deletion, its previous one. */
function subject({ data, preData }: LoggedEvent): unknown {
  return data ?? preData;
}

const tagPart: SummaryPart = (event) =>
  bold(`${memberText(subject(event), 'type') ?? ''}:${memberText(subject(event), 'value') ?? ''}`);

const strategyPart: SummaryPart = (event) => bold(strategyLabel(subject(event)));

/** The name of a segment, a user or another subject. */
const subjectNamePart: SummaryPart = (event) => {
  const keys = ['name', 'tokenName', 'username', 'email', 'provider', 'id'];
  const names = keys.flatMap((key) => memberText(subject(event), key) ?? []);
  return bold(names[0] ?? '');
};

const slackAccountPart: SummaryPart = (event) =>
  bold(`${memberText(subject(event), 'slackUserName') ?? ''} (${memberText(subject(event), 'slackUserId') ?? ''})`);

const changeRequestPart: SummaryPart = (event, base) => {
  const number = `#${memberText(event.data, 'changeRequestId') ?? memberText(event.preData, 'changeRequestId') ?? ''}`;
  return typeof event.project === 'string' && number !== '#'
    ? boldLink(number, base, 'projects', event.project, 'change-requests', number.slice(1))
    : bold(number);
};

/** A colon and the `reason` of the data, if there is one. */
const reasonPart: SummaryPart = ({ data }) => {
  const reason = memberText(data, 'reason');
  return reason === undefined ? '' : `: ${escapeMarkdown(reason)}`;
};

/** The scheduled date in the data, if any. */
const scheduledFor: SummaryPart = ({ data }) => {
  const date = memberText(data, 'scheduledDate');
  return date === undefined ? '' : ` for ${bold(date)}`;
};

export interface EventDescription {
  /** a short name of the event */
  readonly label: string;
  /** what happened, in Markdown */
  readonly summary: string;
}

type Entry = readonly [label: string, summary: SummaryPart];

/** Template tag: joins literal text and parts that are made from the event to a sentence. */
function sentence(literals: TemplateStringsArray, ...parts: readonly (SummaryPart | string)[]): SummaryPart {
  return (event, base) =>
    String.raw({ raw: literals }, ...parts.map((part) => (typeof part === 'string' ? part : part(event, base))));
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** The entry of an action on an entity, such as `user created segment x`. */
function entityEntry(noun: string, verb: string): Entry {
  return [`${capitalize(noun)} ${verb}`, sentence`${userPart} ${verb} ${noun} ${subjectNamePart}${inProject}`];
}

/** What the person acted through, where it was neither the console nor the API. */
const viaPart: SummaryPart = ({ data }) => (memberText(data, 'via') === 'slack' ? ' in Slack' : '');

/** The entry of an action on a change request, such as `user approved change request #7`. */
function changeRequestEntry(label: string, action: string): Entry {
  return [
    label,
    sentence`${userPart} ${action} change request ${changeRequestPart}${inEnvironmentOfProject}${viaPart}`,
  ];
}

const oldProjectPart: SummaryPart = ({ data }) => bold(memberText(data, 'oldProject') ?? '');
const strategyChangePart: SummaryPart = ({ data, preData, environment }) =>
  describeStrategyChange(preData, data, environment ?? '');

/**
 * Label and summary of each event type. Types that only Bunting has need an entry. Those of Unleash that Unleash describes by their name alone
 * have none here, since clients may compare them (docs/behaviour.md).
 */
const entries: Partial<Record<EventType, Entry>> & Record<AdditionalEventType, Entry> = {
  'feature-created': ['Flag created', sentence`${userPart} created ${flagPart}${inProject}`],
  'feature-archived': ['Flag archived', sentence`${userPart} archived ${flagNamePart}${inProject}`],
  'feature-deleted': ['Flag deleted', sentence`${userPart} deleted ${flagNamePart}${inProject}`],
  'feature-revived': ['Flag revived', sentence`${userPart} revived ${flagPart}${inProject}`],
  'feature-metadata-updated': ['Flag metadata updated', sentence`${userPart} updated ${flagPart} metadata${inProject}`],
  'feature-stale-on': ['Flag marked as stale', sentence`${userPart} marked ${flagPart} as stale${inProject}`],
  'feature-stale-off': [
    'Flag stale marking removed',
    sentence`${userPart} removed the stale marking of ${flagPart}${inProject}`,
  ],
  'feature-potentially-stale-on': [
    'Flag potentially stale',
    sentence`${flagPart} was marked as potentially stale${inProject}`,
  ],
  'feature-completed': ['Flag marked as completed', sentence`${flagPart} was marked as completed${inProject}`],
  'feature-project-change': [
    'Flag moved to a new project',
    sentence`${userPart} moved ${flagPart} from ${oldProjectPart} to ${projectPart}`,
  ],
  'feature-environment-enabled': ['Flag enabled', sentence`${userPart} enabled ${flagPart}${forEnvironment}`],
  'feature-environment-disabled': ['Flag disabled', sentence`${userPart} disabled ${flagPart}${forEnvironment}`],
  'feature-environment-variants-updated': [
    'Flag variants updated',
    sentence`${userPart} updated the variants of ${flagPart}${forEnvironment}`,
  ],
  'feature-strategy-add': [
    'Flag strategy added',
    sentence`${userPart} added strategy ${strategyPart} to ${flagPart}${forEnvironment}`,
  ],
  'feature-strategy-remove': [
    'Flag strategy removed',
    sentence`${userPart} removed strategy ${strategyPart} from ${flagPart}${forEnvironment}`,
  ],
  'feature-strategy-update': [
    'Flag strategy updated',
    sentence`${userPart} updated ${flagPart}${inProject} ${strategyChangePart}`,
  ],
  'feature-tagged': ['Flag tagged', sentence`${userPart} tagged ${flagPart} with ${tagPart}${inProject}`],
  'feature-untagged': ['Flag untagged', sentence`${userPart} untagged ${flagPart} with ${tagPart}${inProject}`],

  'feature-link-added': ['Flag link added', sentence`${userPart} added a link to ${flagPart}${inProject}`],
  'feature-link-updated': ['Flag link updated', sentence`${userPart} updated a link of ${flagPart}${inProject}`],
  'feature-link-removed': ['Flag link removed', sentence`${userPart} removed a link from ${flagPart}${inProject}`],

  'project-created': ['Project created', sentence`${userPart} created project ${projectPart}`],
  'project-archived': ['Project archived', sentence`${userPart} archived project ${projectPart}`],
  'project-deleted': ['Project deleted', sentence`${userPart} deleted project ${projectNamePart}`],

  'segment-created': entityEntry('segment', 'created'),
  'segment-updated': entityEntry('segment', 'updated'),
  'segment-deleted': entityEntry('segment', 'deleted'),
  'context-field-created': entityEntry('context field', 'created'),
  'context-field-updated': entityEntry('context field', 'updated'),
  'context-field-deleted': entityEntry('context field', 'deleted'),
  'api-token-created': entityEntry('API token', 'created'),
  'api-token-deleted': entityEntry('API token', 'deleted'),
  'user-created': entityEntry('user', 'created'),
  'user-updated': entityEntry('user', 'updated'),
  'user-deleted': entityEntry('user', 'deleted'),
  'group-created': entityEntry('group', 'created'),
  'group-updated': entityEntry('group', 'updated'),
  'group-deleted': entityEntry('group', 'deleted'),
  'banner-created': entityEntry('banner', 'created'),
  'banner-updated': entityEntry('banner', 'updated'),
  'banner-deleted': entityEntry('banner', 'deleted'),
  'service-account-created': entityEntry('service account', 'created'),
  'service-account-updated': entityEntry('service account', 'updated'),
  'service-account-deleted': entityEntry('service account', 'deleted'),
  'addon-config-created': entityEntry('integration configuration', 'created'),
  'addon-config-updated': entityEntry('integration configuration', 'updated'),
  'addon-config-deleted': entityEntry('integration configuration', 'deleted'),

  'change-request-created': changeRequestEntry('Change request created', 'created'),
  'change-request-discarded': changeRequestEntry('Change request discarded', 'discarded'),
  'change-request-sent-to-review': [
    'Change request sent to review',
    sentence`${userPart} sent change request ${changeRequestPart}${inEnvironmentOfProject} to review`,
  ],
  'change-request-approval-added': changeRequestEntry('Change request approval added', 'added an approval to'),
  'change-request-approved': changeRequestEntry('Change request approved', 'approved'),
  'change-request-rejected': changeRequestEntry('Change request rejected', 'rejected'),
  'change-request-cancelled': changeRequestEntry('Change request cancelled', 'cancelled'),
  'change-request-requested-approvers-updated': changeRequestEntry(
    'Change request reviewers updated',
    'updated the requested reviewers of',
  ),
  'change-request-comment-added': changeRequestEntry('Change request comment added', 'commented on'),
  'actions-run-succeeded': ['Actions executed', sentence`Actions ${subjectNamePart} ran as ${userPart}${inProject}`],
  'actions-run-failed': [
    'Actions failed',
    sentence`Actions ${subjectNamePart} failed as ${userPart}${inProject}${reasonPart}`,
  ],
  'slack-account-linked': ['Slack account linked', sentence`${userPart} linked Slack account ${slackAccountPart}`],
  'slack-account-unlinked': [
    'Slack account unlinked',
    sentence`${userPart} unlinked Slack account ${slackAccountPart}`,
  ],
  'change-request-applied': changeRequestEntry('Change request applied', 'applied'),
  'change-request-scheduled': [
    'Change request scheduled',
    sentence`${userPart} scheduled change request ${changeRequestPart}${inEnvironmentOfProject}${scheduledFor}`,
  ],
  'change-request-schedule-suspended': [
    'Change request suspended',
    sentence`Change request ${changeRequestPart}${inEnvironmentOfProject} was suspended${reasonPart}`,
  ],
  'change-request-scheduled-application-success': [
    'Scheduled change request applied successfully',
    sentence`Change request ${changeRequestPart}${inEnvironmentOfProject} was applied as scheduled by ${userPart}`,
  ],
  'change-request-scheduled-application-failure': [
    'Scheduled change request failed',
    sentence`Change request ${changeRequestPart}${inEnvironmentOfProject}, scheduled by ${userPart}, could not be applied${reasonPart}`,
  ],
  'change-added': changeRequestEntry('Change added', 'added a change to'),
  'change-edited': changeRequestEntry('Change edited', 'edited a change in'),
  'change-discarded': changeRequestEntry('Change discarded', 'discarded a change from'),
};

/** Label and Markdown summary of an event. @param base the URL that links begin with */
export function describeEvent(event: LoggedEvent, base: string): EventDescription {
  const [label, summary] = entries[event.type] ?? [event.type, sentence`${userPart} triggered ${bold(event.type)}`];
  return { label, summary: summary(event, base) };
}
