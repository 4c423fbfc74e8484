import type { EventType } from '@bunting/contracts';
import { bold } from './markdown.ts';
import { textOf } from './json-members.ts';
import {
  because,
  changeRequest,
  flag,
  flagName,
  forEnvironment,
  inEnvironment,
  inProject,
  type LoggedEvent,
  project,
  projectName,
  scheduledFor,
  strategy,
  subjectName,
  tag,
  user,
  type Words,
} from './summary-parts.ts';
import { strategyChange } from './strategy-change.ts';

export type { LoggedEvent } from './summary-parts.ts';

export interface Description {
  /** a short name of the event */
  readonly label: string;
  /** what happened, in Markdown */
  readonly summary: string;
}

type Entry = readonly [label: string, summary: Words];

/** One sentence out of its parts, each as it is or made from the event. */
const words =
  (parts: TemplateStringsArray, ...between: readonly (Words | string)[]): Words =>
  (event, base) =>
    String.raw({ raw: parts }, ...between.map((part) => (typeof part === 'string' ? part : part(event, base))));

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Somebody did something to one thing of a kind. */
const ofKind = (noun: string, verb: string): Entry => [
  `${capital(noun)} ${verb}`,
  words`${user} ${verb} ${noun} ${subjectName}${inProject}`,
];

/** Somebody did something with a change request. */
const ofChangeRequest = (label: string, did: string): Entry => [
  label,
  words`${user} ${did} change request ${changeRequest}${inEnvironment}`,
];

const oldProject: Words = ({ data }) => bold(textOf(data, 'oldProject') ?? '');
const change: Words = ({ data, preData, environment }) => strategyChange(preData, data, environment ?? '');

/** What people read of each type; a type that is not here is told by its name. */
const entries: Partial<Record<EventType, Entry>> = {
  'feature-created': ['Flag created', words`${user} created ${flag}${inProject}`],
  'feature-archived': ['Flag archived', words`${user} archived ${flagName}${inProject}`],
  'feature-deleted': ['Flag deleted', words`${user} deleted ${flagName}${inProject}`],
  'feature-revived': ['Flag revived', words`${user} revived ${flag}${inProject}`],
  'feature-metadata-updated': ['Flag metadata updated', words`${user} updated ${flag} metadata${inProject}`],
  'feature-stale-on': ['Flag marked as stale', words`${user} marked ${flag} as stale${inProject}`],
  'feature-stale-off': ['Flag stale marking removed', words`${user} removed the stale marking of ${flag}${inProject}`],
  'feature-potentially-stale-on': [
    'Flag potentially stale',
    words`${flag} was marked as potentially stale${inProject}`,
  ],
  'feature-completed': ['Flag marked as completed', words`${flag} was marked as completed${inProject}`],
  'feature-project-change': [
    'Flag moved to a new project',
    words`${user} moved ${flag} from ${oldProject} to ${project}`,
  ],
  'feature-environment-enabled': ['Flag enabled', words`${user} enabled ${flag}${forEnvironment}`],
  'feature-environment-disabled': ['Flag disabled', words`${user} disabled ${flag}${forEnvironment}`],
  'feature-environment-variants-updated': [
    'Flag variants updated',
    words`${user} updated the variants of ${flag}${forEnvironment}`,
  ],
  'feature-strategy-add': [
    'Flag strategy added',
    words`${user} added strategy ${strategy} to ${flag}${forEnvironment}`,
  ],
  'feature-strategy-remove': [
    'Flag strategy removed',
    words`${user} removed strategy ${strategy} from ${flag}${forEnvironment}`,
  ],
  'feature-strategy-update': ['Flag strategy updated', words`${user} updated ${flag}${inProject} ${change}`],
  'feature-tagged': ['Flag tagged', words`${user} tagged ${flag} with ${tag}${inProject}`],
  'feature-untagged': ['Flag untagged', words`${user} untagged ${flag} with ${tag}${inProject}`],

  'feature-link-added': ['Flag link added', words`${user} added a link to ${flag}${inProject}`],
  'feature-link-updated': ['Flag link updated', words`${user} updated a link of ${flag}${inProject}`],
  'feature-link-removed': ['Flag link removed', words`${user} removed a link from ${flag}${inProject}`],

  'project-created': ['Project created', words`${user} created project ${project}`],
  'project-archived': ['Project archived', words`${user} archived project ${project}`],
  'project-deleted': ['Project deleted', words`${user} deleted project ${projectName}`],

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
    words`${user} sent change request ${changeRequest}${inEnvironment} to review`,
  ],
  'change-request-approval-added': ofChangeRequest('Change request approval added', 'added an approval to'),
  'change-request-approved': ofChangeRequest('Change request approved', 'approved'),
  'change-request-rejected': ofChangeRequest('Change request rejected', 'rejected'),
  'change-request-cancelled': ofChangeRequest('Change request cancelled', 'cancelled'),
  'change-request-applied': ofChangeRequest('Change request applied', 'applied'),
  'change-request-scheduled': [
    'Change request scheduled',
    words`${user} scheduled change request ${changeRequest}${inEnvironment}${scheduledFor}`,
  ],
  'change-request-schedule-suspended': [
    'Change request suspended',
    words`Change request ${changeRequest}${inEnvironment} was suspended${because}`,
  ],
  'change-request-scheduled-application-success': [
    'Scheduled change request applied successfully',
    words`Change request ${changeRequest}${inEnvironment} was applied as scheduled by ${user}`,
  ],
  'change-request-scheduled-application-failure': [
    'Scheduled change request failed',
    words`Change request ${changeRequest}${inEnvironment}, scheduled by ${user}, could not be applied${because}`,
  ],
  'change-added': ofChangeRequest('Change added', 'added a change to'),
  'change-edited': ofChangeRequest('Change edited', 'edited a change in'),
  'change-discarded': ofChangeRequest('Change discarded', 'discarded a change from'),
};

/** A short name of the event and what happened in Markdown, with links that begin with `base`. */
export const describeEvent = (event: LoggedEvent, base: string): Description => {
  const [label, summary] = entries[event.type] ?? [event.type, words`${user} triggered ${bold(event.type)}`];
  return { label, summary: summary(event, base) };
};
