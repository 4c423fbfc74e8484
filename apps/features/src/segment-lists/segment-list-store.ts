import type { SegmentListBlocks, StagedSegmentList } from '@bunting/contracts';
import { advisoryLock, onlyRow, prepared, type ReadDatabase, type Tx } from '@bunting/database';
import { decodeRootBlock, type StoredBlock } from '@bunting/contracts/id-blocks';
import { segmentNotFound } from '../refusals.ts';
import type { StoredSegment } from '../segments/segment.ts';
import { segmentListJson, storedSegmentJson } from '../unit-of-work/entities.ts';
import type { ProtectionGuard } from '../unit-of-work/protection.ts';

/** How long blocks are kept that no list needs any more, for gateways and edges that still read them, and uploads that were not ended. */
const keptBlocks = "interval '1 day'";
const keptPieces = "interval '1 hour'";
/** How long a staged list is kept without an open change request that names it. */
const keptStaged = "interval '1 day'";

const selectBlocks = 'select hash, content from segment_block where hash = any ($1::bytea[])';
const blocksByHash = prepared(selectBlocks);

const listOfSegment = prepared(`
  select list.segment is not null as "hasList", block.hash, block.content, ${segmentListJson('list')} as list
  from segment s left join segment_list list on list.segment = s.id left join segment_block block on block.hash = list.root
  where s.id = $1 and (s.project is null or s.project <> all ($2::text[]))`);

const stagedListOfSegment = prepared(`
  select staged.root is not null as "hasList", block.hash, block.content,
    json_build_object('contextName', staged.context_name, 'size', staged.size, 'version', s.version) as list
  from segment s
    left join lateral (
      select * from staged_segment_list where segment = s.id and encode(root, 'hex') = $3 limit 1) staged on true
    left join segment_block block on block.hash = staged.root
  where s.id = $1 and (s.project is null or s.project <> all ($2::text[]))`);

/** Reads lists outside of transactions. */
export function segmentListReader(database: ReadDatabase) {
  return {
    /**
     * The list of a segment with the hashes of its blocks; undefined where it has none.
     * @param hidden the projects that the caller may not see
     * @param stagedRoot for the list that was staged under this root, instead of the one in place
     */
    one: async (id: number, hidden: readonly string[], stagedRoot?: string): Promise<SegmentListBlocks | undefined> => {
      const [row] = await database.read<StoredBlock & { hasList: boolean; list: Omit<SegmentListBlocks, 'blocks'> }>(
        stagedRoot === undefined ? listOfSegment : stagedListOfSegment,
        stagedRoot === undefined ? [id, hidden] : [id, hidden, stagedRoot],
      );
      if (row === undefined) throw segmentNotFound(id);
      if (!row.hasList) return undefined;
      return { ...row.list, blocks: decodeRootBlock(row).map((hash) => hash.toString('hex')) };
    },
    blocks: (hashes: readonly Buffer[]): Promise<readonly StoredBlock[]> =>
      database.read<StoredBlock>(blocksByHash, [hashes]),
  };
}

const selectTarget = `
  select ${storedSegmentJson('s')} as segment, list.root, list.bytes from segment s left join segment_list list on list.segment = s.id
  where s.id = $1`;

/** A segment whose list is edited, with the hash of the block that lists its blocks. */
export interface EditedSegment {
  readonly segment: StoredSegment;
  /** null without a list */
  readonly root: Buffer | null;
  /** of the ids of its list, each with a line break; null without a list */
  readonly bytes: number | null;
}

/** A piece of an upload. */
export interface StoredPiece {
  readonly upload: string;
  readonly piece: number;
  /** as the caller of `addPiece` has compressed them */
  readonly ids: Buffer;
}

/** By what a change request names a list of a segment. */
export interface StagedListKey {
  readonly segment: number;
  /** in hexadecimal digits */
  readonly root: string;
}

const isAmongKeys = `(segment, root) in (
  select segment, decode(hex, 'hex') from unnest($1::integer[], $2::text[]) as key (segment, hex))`;

function keyColumns(lists: readonly StagedListKey[]) {
  return [lists.map(({ segment }) => segment), lists.map(({ root }) => root)];
}

interface SegmentListRepositoryOptions {
  /** refuses edits that require a change request */
  readonly guard: ProtectionGuard;
  readonly isProjectVisible: (project: string) => boolean;
}

export function segmentListRepository({ query }: Tx, { guard, isProjectVisible }: SegmentListRepositoryOptions) {
  return {
    /**
     * A segment whose list the caller is about to edit; it is not locked.
     * @param isStaged whether the edit changes nothing but for a change request
     * @throws Refusal where a change request is required
     */
    getEditable: async (id: number, isStaged = false): Promise<EditedSegment> => {
      const [row] = await query<EditedSegment>(selectTarget, [id]);
      const project = row?.segment.project ?? null;
      if (row === undefined || (project !== null && !isProjectVisible(project))) throw segmentNotFound(id);
      if (!isStaged) await guard.checkSegmentEdit(id, [project]);
      return row;
    },

    /** Stores a piece; one that is stored already is replaced. */
    addPiece: async (segment: number, { upload, piece, ids }: StoredPiece): Promise<void> => {
      await query(
        `insert into segment_list_piece (upload, piece, segment, ids) values ($1, $2, $3, $4)
        on conflict (upload, piece) do update set ids = excluded.ids, segment = excluded.segment, created_at = now()`,
        [upload, piece, segment, ids],
      );
    },

    /** The ids of a piece of an upload to a segment; undefined for one that was not stored. */
    piece: async (segment: number, upload: string, piece: number): Promise<Buffer | undefined> => {
      const text = 'select ids from segment_list_piece where upload = $1 and piece = $2 and segment = $3';
      const [row] = await query<{ ids: Buffer }>(text, [upload, piece, segment]);
      return row?.ids;
    },
    removePieces: async (upload: string): Promise<void> => {
      await query('delete from segment_list_piece where upload = $1', [upload]);
    },

    blocks: (hashes: readonly Buffer[]): Promise<readonly StoredBlock[]> => query<StoredBlock>(selectBlocks, [hashes]),

    /** Stores blocks. Each stays for a day at least, until which a list must name it. */
    addBlocks: async (blocks: readonly StoredBlock[]): Promise<void> => {
      const sorted = blocks.toSorted((one, other) => Buffer.compare(one.hash, other.hash));
      await query(
        `insert into segment_block (hash, content) select * from unnest($1::bytea[], $2::bytea[])
        on conflict (hash) do update set released_at = now()`,
        [sorted.map(({ hash }) => hash), sorted.map(({ content }) => content)],
      );
    },

    /**
     * The bytes of ids, each with a line break: of the list of a segment and of those of all others. With a root they are of what is staged, where
     * a list that is staged again is its own. No other transaction that asks can store a list before this one ends.
     */
    lockAndSumBytes: async (
      segment: number,
      stagedRoot?: Buffer,
    ): Promise<{ readonly own: number; readonly others: number }> => {
      await advisoryLock({ query }, 'segment-lists');
      const [table, isOwn, values] =
        stagedRoot === undefined
          ? ['segment_list', 'segment = $1', [segment]]
          : ['staged_segment_list', 'segment = $1 and root = $2', [segment, stagedRoot]];
      const text = `
        select coalesce(sum(bytes) filter (where ${isOwn}), 0)::float8 as own,
          coalesce(sum(bytes) filter (where not (${isOwn})), 0)::float8 as others
        from ${table}`;
      return onlyRow(await query<{ own: number; others: number }>(text, values), text);
    },

    /** Lets housekeeping delete what was staged for a segment and is in place now, unless an open change request names it. */
    releaseStaged: async (segment: number, root: Buffer): Promise<void> => {
      await query('update staged_segment_list set kept_until = now() where segment = $1 and root = $2', [
        segment,
        root,
      ]);
    },

    /** Stores a list that a change request may name from now on; its blocks are stored. It is kept for a day, and while an open one names it. */
    addStaged: async (
      segment: number,
      {
        contextName,
        size,
        added,
        removed,
        replaced,
      }: Omit<StagedSegmentList, 'root'> & { readonly contextName: string },
      { root, bytes }: { readonly root: Buffer; readonly bytes: number },
    ): Promise<void> => {
      await query(
        `insert into staged_segment_list (segment, root, context_name, size, bytes, added, removed, replaced, kept_until)
        values ($1, $2, $3, $4, $5, $6, $7, $8, now() + ${keptStaged})
        on conflict (segment, root, context_name) do update
          set added = excluded.added, removed = excluded.removed, replaced = excluded.replaced, kept_until = excluded.kept_until`,
        [segment, root, contextName, size, bytes, added, removed, replaced && JSON.stringify(replaced)],
      );
    },

    /** Locks staged lists of segments against their deletion. @param roots as texts */
    lockStaged: async (segments: readonly number[], roots: readonly string[]): Promise<void> => {
      if (roots.length === 0) return;
      await query(
        `select from staged_segment_list
        where segment = any ($1::integer[]) and encode(root, 'hex') = any ($2::text[])
        order by segment, root, context_name for share`,
        [segments, roots],
      );
    },

    /** Staged lists that are kept until now, unless a change request needs them. */
    stagedToDelete: (limit: number): Promise<StagedListKey[]> =>
      query<StagedListKey>(
        `select segment, encode(root, 'hex') as root from staged_segment_list where kept_until < now()
        group by segment, root order by min(kept_until) limit $1`,
        [limit],
      ),

    /** Keeps staged lists for another day. */
    keepStaged: async (lists: readonly StagedListKey[]): Promise<void> => {
      await query(
        `update staged_segment_list set kept_until = now() + ${keptStaged} where ${isAmongKeys}`,
        keyColumns(lists),
      );
    },

    /** Deletes staged lists that are not kept. */
    deleteStaged: async (lists: readonly StagedListKey[]): Promise<void> => {
      await query(`delete from staged_segment_list where kept_until < now() and ${isAmongKeys}`, keyColumns(lists));
    },

    /** Deletes pieces of uploads that were not ended; returns how many. */
    deleteOldPieces: async (limit: number): Promise<number> => {
      const text = `
        with expired as (
          select ctid from segment_list_piece where created_at < now() - ${keptPieces} limit $1::integer for update skip locked)
        delete from segment_list_piece target using expired where target.ctid = expired.ctid returning 1`;
      return (await query(text, [limit])).length;
    },

    /** Deletes blocks that no list has needed for a day, and keeps those that one needs again; returns how many were looked at. */
    deleteReleasedBlocks: async (limit: number): Promise<number> => {
      const text = `
        with released as (
          select hash from segment_block where released_at < now() - ${keptBlocks} limit $1::integer for update skip locked
        ), used as materialized (
          select blocks_of_list(root) as hash from (select root from segment_list union select root from staged_segment_list) list
          where exists (select from released)
        ), kept as (
          update segment_block block set released_at = null from released
          where block.hash = released.hash and block.hash in (select hash from used)
        ), deleted as (
          delete from segment_block block using released
          where block.hash = released.hash and block.hash not in (select hash from used)
        )
        select count(*)::integer as count from released`;
      return onlyRow(await query<{ count: number }>(text, [limit]), text).count;
    },
  };
}
