// Own code instead of a Set of texts: a million ids take 45 MB here and several times as much there (`id-list.perf.ts`).
import { hashAfter, utf8Of } from './variant.ts';

/** The ids of one block, in the order of their UTF-8 bytes. */
export interface IdBlock {
  /** the ids in UTF-8, each followed by a line break */
  readonly text: Uint8Array;
  /** where each id begins, and last where the text ends */
  readonly starts: Uint32Array;
  /** a hash table: at the hash of an id or after it, one more than the position of the id; 0 where nothing is */
  readonly slots: Uint16Array | Uint32Array;
}

/** Ids, by which a segment matches users. */
export interface IdList {
  readonly size: number;
  /** the memory that the ids take */
  readonly bytes: number;
  readonly has: (id: string) => boolean;
  /** all of them, block by block */
  readonly ids: () => Iterable<string>;
}

const lineBreak = 0x0a;

/** The hash of an id, as `utf8Of` returned it. */
function hashOf(utf8: string): number {
  return hashAfter(0, 0, 0, 0, utf8);
}

/** How far a hash is shifted, so that its first bits are left, which name the block. @param blocks a power of two, at least 2 */
function shiftFor(blocks: number): number {
  return 32 - Math.log2(blocks);
}

/** The block of an id. @param blocks the number of blocks of its list, a power of two */
export function blockOfId(id: string, blocks: number): number {
  return blocks === 1 ? 0 : hashOf(utf8Of(id)) >>> shiftFor(blocks);
}

/** Reads a block. @param text ids in UTF-8, each followed by a line break */
export function readIdBlock(text: Uint8Array): IdBlock {
  let count = 0;
  for (const byte of text) if (byte === lineBreak) count++;
  const starts = new Uint32Array(count + 1);
  const capacity = 2 ** Math.ceil(Math.log2(1.5 * count + 1));
  const slots = count < 2 ** 16 ? new Uint16Array(capacity) : new Uint32Array(capacity);
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  let nth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== lineBreak) continue;
    let slot = hashOf(bytes.toString('latin1', starts[nth], at)) & (capacity - 1);
    while (slots[slot] !== 0) slot = (slot + 1) & (capacity - 1);
    slots[slot] = nth + 1;
    starts[++nth] = at + 1;
  }
  return { text, starts, slots };
}

/** Whether the bytes of an id of a block are those of one that `utf8Of` returned. */
function equalsAt(text: Uint8Array, start: number, end: number, utf8: string): boolean {
  if (end - start !== utf8.length) return false;
  for (let index = 0; index < utf8.length; index++) if (text[start + index] !== utf8.charCodeAt(index)) return false;
  return true;
}

function blockHas({ text, starts, slots }: IdBlock, utf8: string, hash: number): boolean {
  const mask = slots.length - 1;
  for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const nth = (slots[slot] as number) - 1;
    if (equalsAt(text, starts[nth] as number, (starts[nth + 1] as number) - 1, utf8)) return true;
  }
  return false;
}

/** The memory that a block takes, in bytes. */
export function bytesOfBlock({ text, starts, slots }: IdBlock): number {
  return text.byteLength + starts.byteLength + slots.byteLength;
}

/** The list of the ids in blocks, whose number is a power of two. */
export function idList(blocks: readonly IdBlock[]): IdList {
  const isDivided = blocks.length > 1;
  const shift = shiftFor(blocks.length);
  return {
    size: blocks.reduce((sum, { starts }) => sum + starts.length - 1, 0),
    bytes: blocks.reduce((sum, block) => sum + bytesOfBlock(block), 0),
    has: (id) => {
      const utf8 = utf8Of(id);
      const hash = hashOf(utf8);
      const block = blocks[isDivided ? hash >>> shift : 0];
      return block !== undefined && blockHas(block, utf8, hash);
    },
    *ids() {
      const decoder = new TextDecoder();
      for (const { text, starts } of blocks)
        for (let nth = 0; nth < starts.length - 1; nth++)
          yield decoder.decode(text.subarray(starts[nth], (starts[nth + 1] as number) - 1));
    },
  };
}
