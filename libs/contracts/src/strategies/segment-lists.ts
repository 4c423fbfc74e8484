import { type Static, Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { SegmentPath } from '../paths.ts';
import { Nullable } from '../schemas.ts';
import { BlockHash, listContextName, SegmentList, StagedSegmentList } from './segments.ts';

/** The most ids of a list, and the most of one request, where an id that comes twice counts twice. */
export const maxSegmentListSize = 1_000_000;
/** The longest id, in characters. */
export const maxSegmentIdLength = 255;
/** The most bytes of all ids of a list together, in UTF-8, each with a line break: a million ids of 66 bytes. */
export const maxSegmentListBytes = 64 * 1024 * 1024;
/** The most bytes of the ids of one block of a list, eight times what it is meant to have: only ids that were chosen for it come near. */
export const maxSegmentBlockBytes = 512 * 1024;
/** The most bytes of the body of an upload, whose lines may have more than the id. */
export const maxSegmentListBodyBytes = 256 * 1024 * 1024;

/** The content types of a list of ids. */
export const segmentListContentTypes = ['text/csv', 'application/x-ndjson', 'text/plain'] as const;
export type SegmentListContentType = (typeof segmentListContentTypes)[number];

export const SegmentListChange = Type.Object(
  {
    list: Nullable(SegmentList, { description: 'the list after the request; null once it is removed' }),
    received: Type.Integer({ description: 'the ids in the request; one that comes twice counts twice' }),
    added: Type.Integer({ description: 'the ids that the list did not have before' }),
    removed: Type.Integer({ description: 'the ids that the list does not have any more' }),
    staged: Type.Optional(StagedSegmentList),
  },
  { title: 'segmentListChangeSchema', description: 'What a request has changed in a list.' },
);
export type SegmentListChange = Static<typeof SegmentListChange>;

const upload = Type.String({ minLength: 32, maxLength: 32, description: 'the upload, by a random number' });

/** The most pieces of an upload. */
export const maxUploadPieces = 4_096;

/** Where the ids of a request are: the gateway has stored them in pieces before it calls the operation. */
const UploadedIds = Type.Object({
  upload,
  pieces: Type.Integer({ minimum: 0, maximum: maxUploadPieces, description: 'the number of its pieces' }),
  received: Type.Integer({ minimum: 0, maximum: maxSegmentListSize, description: 'the number of its ids' }),
  bytes: Type.Integer({ minimum: 0, maximum: maxSegmentListBytes, description: 'of its ids, each with a line break' }),
  hash: Type.String({ minLength: 64, maxLength: 64, description: 'SHA-256 of its ids, each with a line break' }),
});
export type UploadedIds = Static<typeof UploadedIds>;

const ListQuery = Type.Object({
  contextName: Type.Optional(listContextName),
  staged: Type.Optional(
    Type.Boolean({
      description:
        'true changes nothing yet: the result is stored beside the list (with `all=true` nothing needs to be), and `staged` of the reply, with the id of the segment, is the payload of a change `updateSegmentList`, which a change request applies. Without `staged` in the reply the list is the same already',
    }),
  ),
});

const RemovalQuery = Type.Object({
  ...ListQuery.properties,
  all: Type.Optional(
    Type.Boolean({
      description:
        'true removes the list itself, in a request without a body: the segment then matches everybody who satisfies its constraints',
    }),
  ),
});

/** What the operations that change a list share. */
const listEdit = {
  tag: 'Segments',
  isBuntingExtension: true,
  isHeavy: true,
  ifMatch: 'segment',
  permission: ['UPDATE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'],
  params: SegmentPath,
  reply: SegmentListChange,
  errors: [
    'ValidationError',
    'ExceedsLimitError',
    'NotFoundError',
    'ConflictError',
    'ContentTypeerror',
    'PayloadTooLarge',
    'RequestTimeout',
  ],
} as const;

/** Emits `segment-updated`. */
export const ReplaceSegmentList = defineOperation({
  subject: 'call.features.replace-segment-list',
  summary: 'Set the list of a segment',
  description:
    'Replaces the list of a segment by the ids of the body. The segment then matches users whose context field `contextName` has one of the ids and who satisfy all of its constraints; with no id it matches nobody. `contextName` may be left out where the segment has a list.',
  ...listEdit,
  http: { method: 'PUT', url: '/api/admin/segments/:id/list', idList: 'required', takesLong: true } as const,
  query: ListQuery,
  body: UploadedIds,
});

/** Emits `segment-updated`. */
export const AddSegmentIds = defineOperation({
  subject: 'call.features.add-segment-ids',
  summary: 'Add ids to the list of a segment',
  description: 'Adds the ids of the body to the list of a segment. A segment without a list gets one.',
  ...listEdit,
  http: { method: 'POST', url: '/api/admin/segments/:id/list', idList: 'required', takesLong: true } as const,
  query: ListQuery,
  body: UploadedIds,
});

/** Emits `segment-updated`. */
export const RemoveSegmentIds = defineOperation({
  subject: 'call.features.remove-segment-ids',
  summary: 'Remove ids from the list of a segment, or the list',
  description: 'Removes the ids of the body from the list of a segment, or with `all=true` the list itself.',
  ...listEdit,
  http: { method: 'DELETE', url: '/api/admin/segments/:id/list', idList: 'optional', takesLong: true } as const,
  query: RemovalQuery,
  body: Type.Union([UploadedIds, Type.Null()]),
});

export const SegmentListBlocks = Type.Object({
  ...SegmentList.properties,
  blocks: Type.Array(BlockHash, { description: 'the blocks of the list' }),
});
export type SegmentListBlocks = Static<typeof SegmentListBlocks>;

export const GetSegmentList = defineOperation({
  subject: 'call.features.get-segment-list',
  summary: 'Download the list of a segment',
  description:
    'Returns the ids of the list in no particular order: a JSON text in each line, or a CSV with the context field as its header where `Accept` names `text/csv`.',
  tag: 'Segments',
  http: { method: 'GET', url: '/api/admin/segments/:id/list', idList: 'response' },
  isBuntingExtension: true,
  permission: 'authenticated',
  params: SegmentPath,
  query: Type.Object({
    staged: Type.Optional(
      Type.String({
        ...BlockHash,
        description: 'the `root` of a staged list, whose ids are returned instead: what a reviewer of a change reads',
      }),
    ),
  }),
  reply: SegmentListBlocks,
  errors: ['ValidationError', 'NotFoundError'],
});

/** What a request does with its ids. */
export const segmentListActions = ['replace', 'add', 'remove'] as const;
export type SegmentListAction = (typeof segmentListActions)[number];

/**
 * Checks that the caller may change the list, and stores ids of an upload until the operation that ends it is called. Without ids it only
 * checks, so that a request that will be refused is refused before its body is read.
 */
export const StageSegmentIds = defineOperation({
  subject: 'call.features.stage-segment-ids',
  summary: 'Store a piece of an upload',
  permission: ['UPDATE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'],
  idempotent: true,
  params: SegmentPath,
  query: ListQuery,
  body: Type.Object({
    action: Type.Enum([...segmentListActions], { type: 'string', description: 'what is done with the ids' }),
    upload,
    piece: Type.Integer({ minimum: 0, maximum: maxUploadPieces - 1, description: 'the position of the piece' }),
    ids: Type.Array(Type.String({ minLength: 1, maxLength: maxSegmentIdLength }), { description: 'the ids' }),
  }),
  reply: Type.Object({ contextName: listContextName }),
  errors: ['ValidationError', 'NotFoundError'],
});

/** Deletes what is stored of an upload that will not be ended. */
export const DiscardSegmentIds = defineOperation({
  subject: 'call.features.discard-segment-ids',
  summary: 'Delete the pieces of an upload',
  idempotent: true,
  body: Type.Object({ upload }),
});

/** The most blocks of one call: their contents are some 1 MB, and 22 MB where each is as large as blocks may be; a reply has up to 32 MiB. */
export const maxBlocksPerCall = 32;

/** Returns blocks of lists by their hashes. Blocks that no list has needed for a day are left out. */
export const GetSegmentBlocks = defineOperation({
  subject: 'call.features.get-segment-blocks',
  summary: 'Get blocks of lists',
  idempotent: true,
  readsOnly: true,
  body: Type.Object({
    hashes: Type.Array(BlockHash, { maxItems: maxBlocksPerCall, description: 'the wanted blocks' }),
  }),
  reply: Type.Object({
    blocks: Type.Array(
      Type.Object({ hash: BlockHash, content: Type.String({ description: 'the stored bytes, as base64' }) }),
      { description: 'those of the blocks that exist' },
    ),
  }),
});
