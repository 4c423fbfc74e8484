import { strategyTypeNames } from '../strategies/strategy-type-names.ts';

/** The types of events of an environment that change who gets a flag there. */
export const reachChangingTypes: readonly string[] = [
  'feature-environment-enabled',
  'feature-environment-disabled',
  'feature-strategy-add',
  'feature-strategy-update',
  'feature-strategy-remove',
  'strategy-order-changed',
  'feature-environment-variants-updated',
];

/** What happened, for the types of events whose summaries Unleash, and so the API, leaves at their names. */
const words: Readonly<Record<string, string>> = {
  'application-created': 'saw an application for the first time',
  'feature-updated': 'changed a flag',
  'feature-variants-updated': 'changed the variants of a flag',
  'feature-type-updated': 'changed the lifetime of a flag type',
  'feature-import': 'imported a flag',
  'feature-uncompleted': 'took back that a flag is completed',
  'feature-dependency-added': 'let a flag depend on another one',
  'feature-dependency-removed': 'took away the dependency of a flag',
  'feature-dependencies-removed': 'took away the dependencies of a flag',
  'feature-favorited': 'made a flag a favourite',
  'feature-unfavorited': 'took a flag out of the favourites',
  'features-exported': 'exported flags',
  'features-imported': 'imported flags',
  'strategy-order-changed': 'changed the order of the strategies',
  'strategy-created': 'created a strategy type',
  'strategy-updated': 'changed a strategy type',
  'strategy-deleted': 'deleted a strategy type',
  'strategy-deprecated': 'deprecated a strategy type',
  'strategy-reactivated': 'took a strategy type into use again',
  'default-strategy-updated': 'changed the default strategy of an environment',
  'project-updated': 'changed the settings of a project',
  'project-revived': 'revived a project',
  'project-favorited': 'made a project a favourite',
  'project-unfavorited': 'took a project out of the favourites',
  'project-access-added': 'gave access to a project',
  'project-access-updated': 'changed the access to a project',
  'project-access-user-roles-updated': 'changed the roles of a person in a project',
  'project-access-group-roles-updated': 'changed the roles of a group in a project',
  'project-access-user-roles-deleted': 'took the access to a project from a person',
  'project-access-group-roles-deleted': 'took the access to a project from a group',
  'project-user-added': 'added a person to a project',
  'project-user-removed': 'took a person out of a project',
  'project-user-role-changed': 'changed the role of a person in a project',
  'project-group-added': 'added a group to a project',
  'project-group-removed': 'took a group out of a project',
  'project-group-role-changed': 'changed the role of a group in a project',
  'project-environment-added': 'added an environment to a project',
  'project-environment-removed': 'took an environment out of a project',
  'change-request-configuration-updated': 'changed which edits need a change request',
  'environment-created': 'created an environment',
  'environment-updated': 'changed an environment',
  'environment-deleted': 'deleted an environment',
  'role-created': 'created a role',
  'role-updated': 'changed a role',
  'role-deleted': 'deleted a role',
  'group-user-added': 'added a person to a group',
  'group-user-removed': 'took a person out of a group',
  'tag-created': 'created a tag',
  'tag-deleted': 'deleted a tag',
  'tag-type-created': 'created a tag type',
  'tag-type-updated': 'changed a tag type',
  'tag-type-deleted': 'deleted a tag type',
  'setting-created': 'created a setting',
  'setting-updated': 'changed a setting',
  'setting-deleted': 'deleted a setting',
  'api-token-updated': 'changed an API token',
  'pat-created': 'created a personal access token',
  'pat-deleted': 'deleted a personal access token',
  'signal-endpoint-created': 'created a signal endpoint',
  'signal-endpoint-updated': 'changed a signal endpoint',
  'signal-endpoint-deleted': 'deleted a signal endpoint',
  'signal-endpoint-token-created': 'created a token of a signal endpoint',
  'signal-endpoint-token-updated': 'changed a token of a signal endpoint',
  'signal-endpoint-token-deleted': 'deleted a token of a signal endpoint',
  'actions-created': 'created actions',
  'actions-updated': 'changed actions',
  'actions-deleted': 'deleted actions',
  'public-signup-token-created': 'created an invitation link',
  'public-signup-token-updated': 'changed an invitation link',
  'public-signup-token-user-added': 'let somebody join by an invitation link',
};

/** What happened in an event, without what it happened to: its label, unless the API leaves that at the type. */
export function eventLabel({
  type,
  label,
}: {
  readonly type: string;
  readonly label?: string | null | undefined;
}): string {
  if (label != null && label !== type) return label;
  const text = Object.hasOwn(words, type) ? (words[type] as string) : type;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const typeAlone = / triggered \*\*([a-z-]+)\*\*$/;
const systemUser = /^\*\*unleash(\\?_)system\1user\*\*/;

/** The settings of an installation, by the ids in their events. */
const settings = new Map<unknown, string>([
  ['oidc', 'OpenID Connect'],
  ['scim', 'SCIM'],
  ['simple', 'passwords'],
]);

/** The name of what an event without a flag is about, or undefined. */
export function subjectOf(event: {
  readonly type: string;
  readonly data?: unknown;
  readonly preData?: unknown;
}): string | undefined {
  for (const state of [event.data, event.preData]) {
    const { appName, name, type, value, id } = (state ?? {}) as Readonly<Record<string, unknown>>;
    const isTag = event.type.startsWith('tag-') && typeof type === 'string' && typeof value === 'string';
    const setting = event.type.startsWith('setting-') ? settings.get(id) : undefined;
    const texts = [isTag ? `${type}:${value}` : undefined, appName, name, setting];
    for (const text of texts) if (typeof text === 'string' && text !== '') return text;
  }
  return undefined;
}

/**
 * The Markdown summary of an event in words, where the API only names its type, and without the technical name of Bunting itself.
 * @param subject the name of what the event is about, which such a summary lacks
 */
export function summaryInWords(summary: string, subject?: string): string {
  const named = summary
    .replace(systemUser, '**Bunting**')
    // A strategy without a title is named by its type.
    .replace(/( strategy \*\*)(\w+)(?=\*\*)/, (found, before: string, name: string) =>
      Object.hasOwn(strategyTypeNames, name) ? before + (strategyTypeNames[name] as string) : found,
    );
  const type = typeAlone.exec(named)?.[1];
  if (type === undefined || !Object.hasOwn(words, type)) return named;
  const about = subject === undefined ? '' : `: **${subject.replace(/[\\`*_{}[\]()#+\-.!<>|~]/g, '\\$&')}**`;
  return named.replace(typeAlone, () => ` ${words[type] as string}${about}`);
}
