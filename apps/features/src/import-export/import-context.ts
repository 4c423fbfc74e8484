import { type Caller, type EventType, may, type Permission, type Tag, type UserReference } from '@bunting/contracts';
import type { DomainEvent, Feature } from '../features/feature.ts';
import type { FeatureNaming } from '../names.ts';
import type { ProjectContext } from '../projects/project-context.ts';

/** The permission to emit each event of an import; null for an event that only accompanies others. */
const importPermissions = {
  'feature-created': 'CREATE_FEATURE',
  'feature-metadata-updated': 'UPDATE_FEATURE',
  'feature-tagged': 'UPDATE_FEATURE',
  'feature-link-added': 'UPDATE_FEATURE',
  'feature-strategy-add': 'CREATE_FEATURE_STRATEGY',
  'feature-strategy-remove': 'DELETE_FEATURE_STRATEGY',
  'feature-environment-variants-updated': 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
  'feature-environment-enabled': 'UPDATE_FEATURE_ENVIRONMENT',
  'feature-environment-disabled': 'UPDATE_FEATURE_ENVIRONMENT',
  'feature-dependency-added': 'UPDATE_FEATURE_DEPENDENCY',
  'feature-dependency-removed': 'UPDATE_FEATURE_DEPENDENCY',
  'context-field-created': 'CREATE_CONTEXT_FIELD',
  'tag-type-created': 'CREATE_TAG_TYPE',
  'tag-created': null,
  'features-imported': null,
} as const satisfies Partial<Record<EventType, Permission | null>>;

/** The types of the events that an import can emit: another one does not compile until it has a permission. */
export type ImportEventType = keyof typeof importPermissions;
export type ImportEvent = DomainEvent<ImportEventType>;

/** A permission that the caller lacks, and the environment in which it is required, if any. */
export interface MissingPermission {
  readonly permission: Permission;
  readonly environment: string | undefined;
}

/** The permissions that an import requires and the caller lacks, each once, in the order of the events. */
export function missingImportPermissions(caller: Caller, events: readonly ImportEvent[]): MissingPermission[] {
  const missing = new Map<Permission, MissingPermission>();
  // All events of a type have the same project and environment: those of the import.
  for (const { type, project, environment } of new Map(events.map((event) => [event.type, event])).values()) {
    const permission = importPermissions[type];
    if (permission === null || missing.has(permission)) continue;
    const scope = { project: project ?? undefined, environment: environment ?? undefined };
    if (!may(caller, [permission], scope)) missing.set(permission, { permission, environment: scope.environment });
  }
  return [...missing.values()];
}

/** The caller and the time of an import, and the source of new ids. */
export interface ImportAuthorship {
  readonly caller: Caller;
  readonly now: string;
  /** the caller as the creator of features */
  readonly author: UserReference;
  /** a new id of a strategy or a link */
  readonly generateId: () => string;
}

/** The current state of the project and environment of an import, with every existing object that the file names. */
export interface ImportDestinationState {
  readonly project: string;
  readonly environment: string;
  readonly naming?: FeatureNaming | null | undefined;
  /** the context of the project, of which an import looks up segments by name */
  readonly projectContext: ProjectContext;
  /** by name; of any project, also archived ones */
  readonly features: ReadonlyMap<string, Feature>;
  /** by name of a feature: the active features that depend on it */
  readonly children: ReadonlyMap<string, readonly string[]>;
  readonly tagTypes: ReadonlySet<string>;
  readonly tags: readonly Tag[];
  /** the ids in the file that strategies of any feature have already */
  readonly takenStrategyIds: ReadonlySet<string>;
}
