// Own code instead of a Set of texts: a million ids take 40 MB here and four times as much there (`id-list.perf.ts`).
import { murmurHasher, utf8Of } from './variant.ts';

/** The ids of one block, in the order of their UTF-8 bytes. */
export interface IdBlock {
  /** the ids in UTF-8, each followed by a line break */
  readonly text: Uint8Array;
  /** where each id begins, and last where the text ends */
  readonly starts: Uint32Array;
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

const hashOf = murmurHasher('');
const lineBreak = 0x0a;

/** The block of an id. @param blocks the number of blocks of its list, a power of two */
export function blockOfId(id: string, blocks: number): number {
  return blocks === 1 ? 0 : hashOf(id) >>> (32 - Math.log2(blocks));
}

/** Reads a block. @param text ids in UTF-8, each followed by a line break, in the order of their bytes */
export function readIdBlock(text: Uint8Array): IdBlock {
  let count = 0;
  for (const byte of text) if (byte === lineBreak) count++;
  const starts = new Uint32Array(count + 1);
  let nth = 0;
  for (let at = 0; at < text.length; at++) if (text[at] === lineBreak) starts[++nth] = at + 1;
  return { text, starts };
}

/** Compares an id of a block with one that `utf8Of` returned: negative where the former comes first. */
function compareAt(text: Uint8Array, start: number, end: number, utf8: string): number {
  const length = Math.min(end - start, utf8.length);
  for (let index = 0; index < length; index++) {
    const difference = (text[start + index] as number) - utf8.charCodeAt(index);
    if (difference !== 0) return difference;
  }
  return end - start - utf8.length;
}

function blockHas({ text, starts }: IdBlock, utf8: string): boolean {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compareAt(text, starts[middle] as number, (starts[middle + 1] as number) - 1, utf8);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return false;
}

/** The list of the ids in blocks, whose number is a power of two. */
export function idList(blocks: readonly IdBlock[]): IdList {
  return {
    size: blocks.reduce((sum, { starts }) => sum + starts.length - 1, 0),
    bytes: blocks.reduce((sum, { text, starts }) => sum + text.byteLength + starts.byteLength, 0),
    has: (id) => {
      const block = blocks[blockOfId(id, blocks.length)];
      return block !== undefined && blockHas(block, utf8Of(id));
    },
    *ids() {
      const decoder = new TextDecoder();
      for (const { text, starts } of blocks)
        for (let nth = 0; nth < starts.length - 1; nth++)
          yield decoder.decode(text.subarray(starts[nth], (starts[nth + 1] as number) - 1));
    },
  };
}
