import type { EventType } from '@bunting/contracts';
import { bold } from './markdown.ts';
import { memberText } from './json-members.ts';
import {
  because,
  changeRequestPart,
  flagPart,
  flagNamePart,
  forEnvironment,
  inEnvironmentOfProject,
  inProject,
  type LoggedEvent,
  projectPart,
  projectNamePart,
  scheduledFor,
  strategyPart,
  subjectNamePart,
  tagPart,
  userPart,
  type SummaryPart,
} from './summary-parts.ts';
import { describeStrategyChange } from './describe-strategy-change.ts';

export type { LoggedEvent } from './summary-parts.ts';

export interface EventDescription {
  /** a short name of the event */
  readonly label: string;
  /** what happened, in Markdown */
  readonly summary: string;
}

type Entry = readonly [label: string, summary: SummaryPart];

/** Template tag: joins literal text and parts that are made from the event to a sentence. */
const sentence =
  (parts: TemplateStringsArray, ...between: readonly (SummaryPart | string)[]): SummaryPart =>
  (event, base) =>
    String.raw({ raw: parts }, ...between.map((part) => (typeof part === 'string' ? part : part(event, base))));

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** An action on an entity of a kind, such as `user created segment x`. */
const ofKind = (noun: string, verb: string): Entry => [
  `${capital(noun)} ${verb}`,
  sentence`${userPart} ${verb} ${noun} ${subjectNamePart}${inProject}`,
];

/** An action on a change request. */
const ofChangeRequest = (label: string, did: string): Entry => [
  label,
  sentence`${userPart} ${did} change request ${changeRequestPart}${inEnvironmentOfProject}`,
];

const oldProject: SummaryPart = ({ data }) => bold(memberText(data, 'oldProject') ?? '');
const change: SummaryPart = ({ data, preData, environment }) =>
  describeStrategyChange(preData, data, environment ?? '');

/** Label and summary of each event type. A type without an entry is described by its name. */
const entries: Partial<Record<EventType, Entry>> = {
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
    sentence`${userPart} moved ${flagPart} from ${oldProject} to ${projectPart}`,
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
  'feature-strategy-update': ['Flag strategy updated', sentence`${userPart} updated ${flagPart}${inProject} ${change}`],
  'feature-tagged': ['Flag tagged', sentence`${userPart} tagged ${flagPart} with ${tagPart}${inProject}`],
  'feature-untagged': ['Flag untagged', sentence`${userPart} untagged ${flagPart} with ${tagPart}${inProject}`],

  'feature-link-added': ['Flag link added', sentence`${userPart} added a link to ${flagPart}${inProject}`],
  'feature-link-updated': ['Flag link updated', sentence`${userPart} updated a link of ${flagPart}${inProject}`],
  'feature-link-removed': ['Flag link removed', sentence`${userPart} removed a link from ${flagPart}${inProject}`],

  'project-created': ['Project created', sentence`${userPart} created project ${projectPart}`],
  'project-archived': ['Project archived', sentence`${userPart} archived project ${projectPart}`],
  'project-deleted': ['Project deleted', sentence`${userPart} deleted project ${projectNamePart}`],

  'segment-created': ofKind('segment', 'created'),
  'segment-updated': ofKind('segment', 'updated'),
  'segment-deleted': ofKind('segment', 'deleted'),
  'context-field-created': ofKind('context field', 'created'),
  'context-field-updated': ofKind('context field', 'updated'),
  'context-field-deleted': ofKind('context field', 'deleted'),
  'api-token-created': ofKind('API token', 'created'),
  'api-token-deleted': ofKind('API token', 'deleted'),
  'user-created': ofKind('user', 'created'),
  'user-updated': ofKind('user', 'updated'),
  'user-deleted': ofKind('user', 'deleted'),
  'group-created': ofKind('group', 'created'),
  'group-updated': ofKind('group', 'updated'),
  'group-deleted': ofKind('group', 'deleted'),
  'banner-created': ofKind('banner', 'created'),
  'banner-updated': ofKind('banner', 'updated'),
  'banner-deleted': ofKind('banner', 'deleted'),
  'service-account-created': ofKind('service account', 'created'),
  'service-account-updated': ofKind('service account', 'updated'),
  'service-account-deleted': ofKind('service account', 'deleted'),
  'addon-config-created': ofKind('integration configuration', 'created'),
  'addon-config-updated': ofKind('integration configuration', 'updated'),
  'addon-config-deleted': ofKind('integration configuration', 'deleted'),

  'change-request-created': ofChangeRequest('Change request created', 'created'),
  'change-request-discarded': ofChangeRequest('Change request discarded', 'discarded'),
  'change-request-sent-to-review': [
    'Change request sent to review',
    sentence`${userPart} sent change request ${changeRequestPart}${inEnvironmentOfProject} to review`,
  ],
  'change-request-approval-added': ofChangeRequest('Change request approval added', 'added an approval to'),
  'change-request-approved': ofChangeRequest('Change request approved', 'approved'),
  'change-request-rejected': ofChangeRequest('Change request rejected', 'rejected'),
  'change-request-cancelled': ofChangeRequest('Change request cancelled', 'cancelled'),
  'change-request-applied': ofChangeRequest('Change request applied', 'applied'),
  'change-request-scheduled': [
    'Change request scheduled',
    sentence`${userPart} scheduled change request ${changeRequestPart}${inEnvironmentOfProject}${scheduledFor}`,
  ],
  'change-request-schedule-suspended': [
    'Change request suspended',
    sentence`Change request ${changeRequestPart}${inEnvironmentOfProject} was suspended${because}`,
  ],
  'change-request-scheduled-application-success': [
    'Scheduled change request applied successfully',
    sentence`Change request ${changeRequestPart}${inEnvironmentOfProject} was applied as scheduled by ${userPart}`,
  ],
  'change-request-scheduled-application-failure': [
    'Scheduled change request failed',
    sentence`Change request ${changeRequestPart}${inEnvironmentOfProject}, scheduled by ${userPart}, could not be applied${because}`,
  ],
  'change-added': ofChangeRequest('Change added', 'added a change to'),
  'change-edited': ofChangeRequest('Change edited', 'edited a change in'),
  'change-discarded': ofChangeRequest('Change discarded', 'discarded a change from'),
};

/** Label and Markdown summary of an event. @param base the address that links begin with */
export const describeEvent = (event: LoggedEvent, base: string): EventDescription => {
  const [label, summary] = entries[event.type] ?? [event.type, sentence`${userPart} triggered ${bold(event.type)}`];
  return { label, summary: summary(event, base) };
};
