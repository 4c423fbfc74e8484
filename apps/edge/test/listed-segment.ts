import { createHash } from 'node:crypto';
import { blockOfId } from '@bunting/evaluation';
import { flag, type SimulatedOrigin } from './simulated-origin.ts';

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A list of users in blocks, as an origin tells of it. */
export function listOf(ids: readonly string[], count = 4) {
  const divided: string[][] = Array.from({ length: count }, () => []);
  for (const id of ids) divided[blockOfId(id, count)]?.push(id);
  const texts = divided.map((block) =>
    block
      .toSorted()
      .map((id) => `${id}\n`)
      .join(''),
  );
  const hashes = texts.map(sha256);
  const root = sha256(Buffer.from(hashes.join(''), 'hex'));
  const blocks = new Map(hashes.map((hash, nth) => [hash, texts[nth] as string]));
  blocks.set(root, hashes.map((hash) => `${hash}\n`).join(''));
  return { list: { contextName: 'userId', size: ids.length, root }, blocks };
}

/** The segment 7 with a list, as edges get it. */
export function listedSegment(list: object): Record<string, unknown> {
  const closed = { contextName: 'userId', operator: 'IN', values: [] };
  return { id: 7, name: 'listed', constraints: [closed], list };
}

/** Gives an origin a flag that is on for the users of the segment 7, and this list with its blocks. */
export function giveList(
  origin: SimulatedOrigin,
  { list, blocks }: { readonly list: object; readonly blocks: ReadonlyMap<string, string> },
): void {
  const { data } = origin.state;
  for (const [hash, text] of blocks) origin.state.blocks.set(hash, text);
  if (data.listSegments().length === 0) {
    const strategy = { name: 'default', parameters: {}, constraints: [], segments: [7], variants: [] };
    data.put({ ...flag('listed'), strategies: [strategy] });
  }
  data.putSegment(listedSegment(list));
  origin.wakeStreams();
}
