import { type Static, Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { BlockHash } from '../strategies/segments.ts';

/** The most blocks that one request asks for. */
export const maxBlocksPerRequest = 32;
/** Where an answer has about so many bytes of blocks, the others are left out of it, and are to be asked for again. */
export const maxBlockBytesPerAnswer = 2 * 1024 * 1024;

export const ClientSegmentBlocks = Type.Object(
  {
    blocks: Type.Array(
      Type.Object({
        hash: BlockHash,
        text: Type.String({ description: 'in each line an id, or the hash of a block, with a line break' }),
      }),
      { description: 'some of the blocks, at least one of those that are not missing' },
    ),
    missing: Type.Array(BlockHash, { description: 'blocks that no segment of the token needs' }),
  },
  { title: 'clientSegmentBlocksSchema', description: 'Blocks of lists of segments.' },
);
export type ClientSegmentBlocks = Static<typeof ClientSegmentBlocks>;

/** Returns blocks of the lists of those segments that the token gives access to. */
export const GetClientSegmentBlocks = defineOperation({
  subject: 'call.gateway.get-client-segment-blocks',
  summary: 'Get blocks of lists of segments for an edge',
  description:
    'Returns what blocks say by their hashes: those of the lists to which the segments of the token refer now, or referred within the last minute. The SHA-256 of a block of ids is that of its text in UTF-8, and that of a block that names blocks is that of their hashes as bytes. A block of one hash never changes.',
  tag: 'Client',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/client/segment-blocks' },
  readsOnly: true,
  respondsFromMemory: true,
  permission: 'CLIENT',
  body: Type.Object({
    hashes: Type.Array(BlockHash, { maxItems: maxBlocksPerRequest, description: 'the wanted blocks' }),
  }),
  reply: ClientSegmentBlocks,
});
