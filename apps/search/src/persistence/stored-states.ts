import { type FeatureState, type OutboxMessage, stateSchemas, type StateVersion } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { Database, Statement, Tx } from '@bunting/database';
import { digestOfVersions } from '@bunting/outbox';
import { isDeepStrictEqual } from 'node:util';
import { applyStates } from './apply-states.ts';
import { documentOf, lookupOf } from './feature-document.ts';

/** What search keeps states of. */
export type KeptEntity = 'feature' | 'segment';

/** A state as the features service has it now; without a version when it never had one. */
export interface CurrentState {
  readonly id: string;
  readonly version: number | null;
  readonly state: unknown;
}

/** A state as it is kept, whole enough to be compared. */
export interface KeptState {
  readonly id: string;
  readonly version: number;
  /** whether there is something to find under this id */
  readonly isLive: boolean;
  readonly document: Record<string, unknown> | null;
  readonly lookup: Record<string, unknown> | null;
}

export interface KeptDigest {
  readonly group: string;
  readonly count: number;
  readonly digest: string;
}

/** The states that search keeps, for who compares them with what there is. */
export interface KeptStates {
  digests(entity: KeptEntity): Promise<readonly KeptDigest[]>;
  /** Of a project, or of all segments: what can be found, in the order of ids. */
  versions(
    entity: KeptEntity,
    group: string | undefined,
    after: string,
    limit: number,
  ): Promise<readonly StateVersion[]>;
  read(entity: KeptEntity, ids: readonly string[]): Promise<readonly KeptState[]>;
  /**
   * Puts a state in the place of the one that is kept, whatever the versions, unless that has changed since it was read.
   * @param seen what was kept then; undefined when there was nothing
   */
  replace(entity: KeptEntity, current: CurrentState, seen: KeptState | undefined): Promise<void>;
  /** The turn to compare, once in so many milliseconds for all processes: up to which id contents were compared. */
  claim(everyMs: number): Promise<string | undefined>;
  comparedUpTo(id: string): Promise<void>;
}

const digests: { readonly [E in KeptEntity]: Statement } = {
  feature: {
    name: 'kept-feature-digests',
    text: `
      select lookup.project as "group", count(*) as count, ${digestOfVersions('name', 'version')} as digest
      from feature_lookup lookup join feature_document using (name) where document is not null
      group by lookup.project`,
  },
  segment: {
    name: 'kept-segment-digests',
    text: `
      select '' as "group", count(*) as count, ${digestOfVersions('id', 'version')} as digest
      from segment where name is not null`,
  },
};

// What is there by half counts as well: it must be found to be mended.
const versions: { readonly [E in KeptEntity]: Statement } = {
  feature: {
    name: 'kept-feature-versions',
    text: `
      select name as id, coalesce(version, -1) as version
      from feature_lookup lookup left join feature_document using (name)
      where name > $2 and ($1::text is null or lookup.project = $1) order by name limit $3`,
  },
  segment: {
    name: 'kept-segment-versions',
    text: `
      select id::text as id, version from segment
      where $1::text is not distinct from $1 and name is not null and id::text collate "C" > $2
      order by id::text collate "C" limit $3`,
  },
};

const read: { readonly [E in KeptEntity]: Statement } = {
  feature: {
    name: 'kept-features',
    text: `
      select asked.id, coalesce(document.version, -1) as version,
        document.document is not null or lookup.name is not null as "isLive",
        document.document, row_to_json(lookup) as lookup
      from unnest($1::text[]) as asked (id)
        left join feature_document document on document.name = asked.id
        left join feature_lookup lookup on lookup.name = asked.id
      where document.name is not null or lookup.name is not null`,
  },
  segment: {
    name: 'kept-segments',
    text: `
      select segment.id::text as id, version, name is not null as "isLive",
        case when name is not null then json_build_object('name', name) end as document, null as lookup
      from segment where segment.id::text = any ($1::text[])`,
  },
};

// Figures move on without a new version, until they are told.
const withoutFigures = (document: Record<string, unknown>): unknown => ({
  ...document,
  lastSeenAt: null,
  environments: (document['environments'] as object[]).map((environment) => ({
    ...environment,
    ...{ lastSeenAt: null, yes: 0, no: 0 },
  })),
});

const moments = ['created_at'];
const comparable = (lookup: Record<string, unknown>): unknown =>
  Object.fromEntries(
    Object.entries(lookup)
      .filter(([column]) => column !== 'name' && column !== 'last_seen_at')
      .map(([column, value]) => [column, moments.includes(column) ? Date.parse(String(value)) : value]),
  );

const plain = (value: unknown): Record<string, unknown> => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;

/** Whether what is kept says what there is; figures aside, which change by the minute. */
export const saysTheSame = (entity: KeptEntity, kept: KeptState | undefined, { state }: CurrentState): boolean => {
  if (state === null) return kept === undefined || !kept.isLive;
  if (kept === undefined || !kept.isLive || kept.document === null) return false;
  if (entity === 'segment') return kept.document['name'] === (state as { name: string }).name;
  if (kept.lookup === null) return false;
  const feature = state as FeatureState;
  return (
    isDeepStrictEqual(withoutFigures(kept.document), withoutFigures(plain(documentOf(feature)))) &&
    isDeepStrictEqual(comparable(kept.lookup), comparable(plain(lookupOf(feature))))
  );
};

const messageOf = (entity: KeptEntity, payload: object): OutboxMessage => ({
  ...{ position: 1, uid: '', type: entity, recordedAt: '', traceparent: null, payload },
});

const forget = async ({ query }: Tx, entity: KeptEntity, id: string): Promise<void> => {
  if (entity === 'segment') return void (await query('delete from segment where id = $1::integer', [Number(id)]));
  await query('delete from feature_lookup where name = $1', [id]);
  await query('delete from feature_document where name = $1', [id]);
};

/** Locks what is kept as it was seen, and sets it back so far that the state is newer; false when it has changed. */
const stepBack = async (
  { query }: Tx,
  entity: KeptEntity,
  { id, version }: CurrentState,
  seen: KeptState | undefined,
): Promise<boolean> => {
  const [table, key] = entity === 'feature' ? ['feature_document', 'name'] : ['segment', 'id::text'];
  const rows = await query<{ version: number }>(`select version from ${table} where ${key} = $1 for update`, [id]);
  if ((rows[0]?.version ?? -1) !== (seen?.version ?? -1)) return false;
  await query(`update ${table} set version = $2 where ${key} = $1 and version >= $3`, [
    id,
    (version ?? 0) - 1,
    version ?? 0,
  ]);
  return true;
};

export const keptStates = (database: Database): KeptStates => ({
  digests: (entity) => database.read(digests[entity]),
  versions: (entity, group, after, limit) => database.read(versions[entity], [group ?? null, after, limit]),
  read: (entity, ids) => database.read(read[entity], [ids]),
  replace: (entity, current, seen) =>
    database.transaction(async (tx) => {
      if (!(await stepBack(tx, entity, current, seen))) return;
      const { id, version, state } = current;
      if (version === null || (entity === 'segment' && state === null)) return forget(tx, entity, id);
      const told = state === null ? null : parse(stateSchemas[entity], state);
      if (told === null && seen?.lookup !== null) await tx.query('delete from feature_lookup where name = $1', [id]);
      await applyStates(tx, [messageOf(entity, { entity, id, version, state: told })]);
    }),
  claim: (everyMs) =>
    database.transaction(async ({ query }) => {
      const text = `
        update reconciliation set claimed_at = now() where claimed_at <= now() - $1 * interval '1 millisecond'
        returning compared_up_to as "comparedUpTo"`;
      return (await query<{ comparedUpTo: string }>(text, [everyMs]))[0]?.comparedUpTo;
    }),
  comparedUpTo: (id) =>
    database.transaction(
      async ({ query }) => void (await query('update reconciliation set compared_up_to = $1', [id])),
    ),
});
