import type { EventType } from '@bunting/contracts';
import { bold } from './markdown.ts';
import { textOf } from './json-members.ts';
import {
  because,
  changeRequest,
  flag,
  flagName,
  forEnvironment,
  inEnvironmentOfProject,
  inProject,
  type LoggedEvent,
  project,
  projectName,
  scheduledFor,
  strategy,
  subjectName,
  tag,
  user,
  type SummaryPart,
} from './summary-parts.ts';
import { strategyChange } from './strategy-change.ts';

export type { LoggedEvent } from './summary-parts.ts';

export interface Description {
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
  sentence`${user} ${verb} ${noun} ${subjectName}${inProject}`,
];

/** An action on a change request. */
const ofChangeRequest = (label: string, did: string): Entry => [
  label,
  sentence`${user} ${did} change request ${changeRequest}${inEnvironmentOfProject}`,
];

const oldProject: SummaryPart = ({ data }) => bold(textOf(data, 'oldProject') ?? '');
const change: SummaryPart = ({ data, preData, environment }) => strategyChange(preData, data, environment ?? '');

/** Label and summary of each event type. A type without an entry is described by its name. */
const entries: Partial<Record<EventType, Entry>> = {
  'feature-created': ['Flag created', sentence`${user} created ${flag}${inProject}`],
  'feature-archived': ['Flag archived', sentence`${user} archived ${flagName}${inProject}`],
  'feature-deleted': ['Flag deleted', sentence`${user} deleted ${flagName}${inProject}`],
  'feature-revived': ['Flag revived', sentence`${user} revived ${flag}${inProject}`],
  'feature-metadata-updated': ['Flag metadata updated', sentence`${user} updated ${flag} metadata${inProject}`],
  'feature-stale-on': ['Flag marked as stale', sentence`${user} marked ${flag} as stale${inProject}`],
  'feature-stale-off': [
    'Flag stale marking removed',
    sentence`${user} removed the stale marking of ${flag}${inProject}`,
  ],
  'feature-potentially-stale-on': [
    'Flag potentially stale',
    sentence`${flag} was marked as potentially stale${inProject}`,
  ],
  'feature-completed': ['Flag marked as completed', sentence`${flag} was marked as completed${inProject}`],
  'feature-project-change': [
    'Flag moved to a new project',
    sentence`${user} moved ${flag} from ${oldProject} to ${project}`,
  ],
  'feature-environment-enabled': ['Flag enabled', sentence`${user} enabled ${flag}${forEnvironment}`],
  'feature-environment-disabled': ['Flag disabled', sentence`${user} disabled ${flag}${forEnvironment}`],
  'feature-environment-variants-updated': [
    'Flag variants updated',
    sentence`${user} updated the variants of ${flag}${forEnvironment}`,
  ],
  'feature-strategy-add': [
    'Flag strategy added',
    sentence`${user} added strategy ${strategy} to ${flag}${forEnvironment}`,
  ],
  'feature-strategy-remove': [
    'Flag strategy removed',
    sentence`${user} removed strategy ${strategy} from ${flag}${forEnvironment}`,
  ],
  'feature-strategy-update': ['Flag strategy updated', sentence`${user} updated ${flag}${inProject} ${change}`],
  'feature-tagged': ['Flag tagged', sentence`${user} tagged ${flag} with ${tag}${inProject}`],
  'feature-untagged': ['Flag untagged', sentence`${user} untagged ${flag} with ${tag}${inProject}`],

  'feature-link-added': ['Flag link added', sentence`${user} added a link to ${flag}${inProject}`],
  'feature-link-updated': ['Flag link updated', sentence`${user} updated a link of ${flag}${inProject}`],
  'feature-link-removed': ['Flag link removed', sentence`${user} removed a link from ${flag}${inProject}`],

  'project-created': ['Project created', sentence`${user} created project ${project}`],
  'project-archived': ['Project archived', sentence`${user} archived project ${project}`],
  'project-deleted': ['Project deleted', sentence`${user} deleted project ${projectName}`],

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
    sentence`${user} sent change request ${changeRequest}${inEnvironmentOfProject} to review`,
  ],
  'change-request-approval-added': ofChangeRequest('Change request approval added', 'added an approval to'),
  'change-request-approved': ofChangeRequest('Change request approved', 'approved'),
  'change-request-rejected': ofChangeRequest('Change request rejected', 'rejected'),
  'change-request-cancelled': ofChangeRequest('Change request cancelled', 'cancelled'),
  'change-request-applied': ofChangeRequest('Change request applied', 'applied'),
  'change-request-scheduled': [
    'Change request scheduled',
    sentence`${user} scheduled change request ${changeRequest}${inEnvironmentOfProject}${scheduledFor}`,
  ],
  'change-request-schedule-suspended': [
    'Change request suspended',
    sentence`Change request ${changeRequest}${inEnvironmentOfProject} was suspended${because}`,
  ],
  'change-request-scheduled-application-success': [
    'Scheduled change request applied successfully',
    sentence`Change request ${changeRequest}${inEnvironmentOfProject} was applied as scheduled by ${user}`,
  ],
  'change-request-scheduled-application-failure': [
    'Scheduled change request failed',
    sentence`Change request ${changeRequest}${inEnvironmentOfProject}, scheduled by ${user}, could not be applied${because}`,
  ],
  'change-added': ofChangeRequest('Change added', 'added a change to'),
  'change-edited': ofChangeRequest('Change edited', 'edited a change in'),
  'change-discarded': ofChangeRequest('Change discarded', 'discarded a change from'),
};

/** Label and Markdown summary of an event. @param base the address that links begin with */
export const describeEvent = (event: LoggedEvent, base: string): Description => {
  const [label, summary] = entries[event.type] ?? [event.type, sentence`${user} triggered ${bold(event.type)}`];
  return { label, summary: summary(event, base) };
};
