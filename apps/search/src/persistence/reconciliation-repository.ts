import {
  type FeatureState,
  isEqual,
  type OutboxMessage,
  type ReadableStateEntity,
  stateSchemas,
  type StateVersion,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { Database, Statement, Tx } from '@bunting/database';
import { digestOfVersionsSql } from '@bunting/outbox';
import { applyStates } from './apply-states.ts';
import { featureDocumentOf, featureLookupOf, searchableDescriptionOf } from './feature-document.ts';

/** A state in the features service. Its version is null when the service never had the entity. */
export interface SourceState {
  readonly id: string;
  readonly version: number | null;
  readonly state: unknown;
}

/** A state as search stores it. */
export interface StoredState {
  readonly id: string;
  readonly version: number;
  /** whether a search can find it */
  readonly isLive: boolean;
  readonly document: Record<string, unknown> | null;
  readonly lookup: Record<string, unknown> | null;
  /** the description by which a search finds it */
  readonly description: string | null;
}

/** The digest of the versions of a group of states. */
export interface StateDigest {
  /** a project for its features; empty for all segments */
  readonly group: string;
  readonly count: number;
  readonly digest: string;
}

const selectDigests: { readonly [E in ReadableStateEntity]: Statement } = {
  feature: {
    name: 'stored-feature-digests',
    text: `
      select lookup.project as "group", count(*) as count, ${digestOfVersionsSql('name', 'version')} as digest
      from feature_lookup lookup join feature_document using (name) where document is not null
      group by lookup.project`,
  },
  segment: {
    name: 'stored-segment-digests',
    text: `
      select '' as "group", count(*) as count, ${digestOfVersionsSql('id', 'version')} as digest
      from segment where name is not null`,
  },
};

// Rows without a counterpart in the other table are included, so that they are repaired.
const selectVersions: { readonly [E in ReadableStateEntity]: Statement } = {
  feature: {
    name: 'stored-feature-versions',
    text: `
      select name as id, coalesce(version, -1) as version
      from feature_lookup lookup left join feature_document using (name)
      where name > $2 and ($1::text is null or lookup.project = $1) order by name limit $3`,
  },
  segment: {
    name: 'stored-segment-versions',
    text: `
      select id::text as id, version from segment
      where $1::text is not distinct from $1 and name is not null and id::text collate "C" > $2
      order by id::text collate "C" limit $3`,
  },
};

const selectStates: { readonly [E in ReadableStateEntity]: Statement } = {
  feature: {
    name: 'stored-features',
    text: `
      select requested.id, coalesce(document.version, -1) as version,
        document.document is not null or lookup.name is not null as "isLive",
        document.document, row_to_json(lookup) as lookup, described.description
      from unnest($1::text[]) as requested (id)
        left join feature_document document on document.name = requested.id
        left join feature_lookup lookup on lookup.name = requested.id
        left join feature_description described on described.name = requested.id
      where document.name is not null or lookup.name is not null`,
  },
  segment: {
    name: 'stored-segments',
    text: `
      select segment.id::text as id, version, name is not null as "isLive",
        case when name is not null then json_build_object('name', name) end as document, null as lookup, null as description
      from segment where segment.id::text = any ($1::text[])`,
  },
};

// Usage figures change without a new version.
const withoutUsage = (document: Record<string, unknown>): unknown => ({
  ...document,
  lastSeenAt: null,
  environments: (document['environments'] as object[]).map((environment) => ({
    ...environment,
    lastSeenAt: null,
    yes: 0,
    no: 0,
  })),
});

const timestampColumns = ['created_at'];
/** The columns of a lookup row that only a new version changes, with timestamps in milliseconds since 1970. */
const comparableLookup = (lookup: Record<string, unknown>): unknown =>
  Object.fromEntries(
    Object.entries(lookup)
      .filter(([column]) => column !== 'name' && column !== 'last_seen_at')
      .map(([column, value]) => [column, timestampColumns.includes(column) ? Date.parse(String(value)) : value]),
  );

/** Whether a stored state equals the current one, except for usage figures, which change by the minute. */
export const isUpToDate = (
  entity: ReadableStateEntity,
  stored: StoredState | undefined,
  { state }: SourceState,
): boolean => {
  if (state === null) return stored === undefined || !stored.isLive;
  if (stored === undefined || !stored.isLive || stored.document === null) return false;
  if (entity === 'segment') return stored.document['name'] === (state as { name: string }).name;
  if (stored.lookup === null) return false;
  const feature = state as FeatureState;
  return (
    isEqual(withoutUsage(stored.document), withoutUsage(featureDocumentOf(feature))) &&
    isEqual(comparableLookup(stored.lookup), comparableLookup(featureLookupOf(feature))) &&
    stored.description === searchableDescriptionOf(feature)
  );
};

const messageOf = (entity: ReadableStateEntity, payload: object): OutboxMessage => ({
  position: 1,
  uid: '',
  type: entity,
  recordedAt: '',
  traceparent: null,
  payload,
});

const deleteState = async ({ query }: Tx, entity: ReadableStateEntity, id: string): Promise<void> => {
  if (entity === 'segment') return void (await query('delete from segment where id = $1::integer', [Number(id)]));
  await query('delete from feature_lookup where name = $1', [id]);
  await query('delete from feature_description where name = $1', [id]);
  await query('delete from feature_document where name = $1', [id]);
};

/** Locks a stored state, and lowers its version below that of the current state. @returns false if it has changed since it was read */
const lowerVersion = async (
  { query }: Tx,
  entity: ReadableStateEntity,
  { id, version }: SourceState,
  expected: StoredState | undefined,
): Promise<boolean> => {
  const [table, key] = entity === 'feature' ? ['feature_document', 'name'] : ['segment', 'id::text'];
  const rows = await query<{ version: number }>(`select version from ${table} where ${key} = $1 for update`, [id]);
  if ((rows[0]?.version ?? -1) !== (expected?.version ?? -1)) return false;
  await query(`update ${table} set version = $2 where ${key} = $1 and version >= $3`, [
    id,
    (version ?? 0) - 1,
    version ?? 0,
  ]);
  return true;
};

/** The states that search stores, for comparison with the features service. */
export const reconciliationRepository = (database: Database) => ({
  digests: (entity: ReadableStateEntity): Promise<readonly StateDigest[]> => database.read(selectDigests[entity]),
  /** Versions of the features of a project, or of all segments, ordered by id. */
  versions: (
    entity: ReadableStateEntity,
    group: string | undefined,
    after: string,
    limit: number,
  ): Promise<readonly StateVersion[]> => database.read(selectVersions[entity], [group ?? null, after, limit]),
  read: (entity: ReadableStateEntity, ids: readonly string[]): Promise<readonly StoredState[]> =>
    database.read(selectStates[entity], [ids]),
  /**
   * Replaces a stored state, whatever the versions, unless it has changed since it was read.
   * @param expected the stored state as it was read; undefined if there was none
   */
  replace: (entity: ReadableStateEntity, current: SourceState, expected: StoredState | undefined): Promise<void> =>
    database.transaction(async (tx) => {
      if (!(await lowerVersion(tx, entity, current, expected))) return;
      const { id, version, state } = current;
      if (version === null || (entity === 'segment' && state === null)) return deleteState(tx, entity, id);
      const parsed = state === null ? null : parse(stateSchemas[entity], state);
      if (parsed === null && expected?.lookup !== null)
        await tx.query('delete from feature_lookup where name = $1', [id]);
      await applyStates(tx, [messageOf(entity, { entity, id, version, state: parsed })]);
    }),
  /**
   * Claims the next comparison, if it is due: all processes together start one per interval.
   * @returns the name of the feature after which the comparison continues; undefined if none is due
   */
  claim: (intervalMs: number): Promise<string | undefined> =>
    database.transaction(async ({ query }) => {
      const text = `
        update reconciliation set claimed_at = now() where claimed_at <= now() - $1 * interval '1 millisecond'
        returning compared_up_to as "comparedUpTo"`;
      return (await query<{ comparedUpTo: string }>(text, [intervalMs]))[0]?.comparedUpTo;
    }),
  saveComparedUpTo: (id: string): Promise<void> =>
    database.transaction(
      async ({ query }) => void (await query('update reconciliation set compared_up_to = $1', [id])),
    ),
});
export type ReconciliationRepository = ReturnType<typeof reconciliationRepository>;
