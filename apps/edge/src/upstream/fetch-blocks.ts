import { type ClientSegmentBlocks, GetClientSegmentBlocks, maxBlocksPerRequest } from '@bunting/contracts';
import type { FetchBlocks } from '@bunting/delivery';
import type { OriginClient } from './origin-client.ts';
import { OriginError } from './origin-error.ts';

/** An answer has some 2 MiB; a block alone may have 0.5 MiB, in JSON twice as much. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** @throws OriginError `unusable` */
function readAnswer(body: unknown): ClientSegmentBlocks {
  const { blocks, missing } = (body ?? {}) as Partial<Record<keyof ClientSegmentBlocks, unknown>>;
  const isAnswer =
    Array.isArray(blocks) &&
    blocks.every((block: { hash?: unknown; text?: unknown } | null) => {
      return typeof block?.hash === 'string' && typeof block.text === 'string';
    }) &&
    Array.isArray(missing);
  if (!isAnswer) throw new OriginError('unusable', 'its answer is unusable: it has no blocks of lists');
  return { blocks, missing } as ClientSegmentBlocks;
}

/** Asks the origin for blocks of lists, which are compared with their hashes by whoever takes them. */
export function fetchBlocksFrom(
  client: Pick<OriginClient, 'ask'>,
  request: {
    readonly token: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  },
  { onBlocked, onPassed }: { readonly onBlocked: () => void; readonly onPassed: () => void },
): FetchBlocks {
  const path = GetClientSegmentBlocks.http?.url ?? '';
  const ask = async (hashes: readonly string[]): Promise<ClientSegmentBlocks> => {
    try {
      const { body } = await client.ask({ ...request, path, json: { hashes }, maxBytes: maxAnswerBytes });
      const answer = readAnswer(body);
      onPassed();
      return answer;
    } catch (error) {
      // An origin that told of lists has the operation, and takes the token: this was another replica of it, of the version before, or a
      // proxy that does not let the path pass, be it by a page.
      if (
        error instanceof OriginError &&
        (error.fault === 'unsupported' || error.fault === 'refused' || error.status === 403)
      ) {
        onBlocked();
        throw new OriginError('failing', `asked for blocks of lists, ${error.message}`);
      }
      throw error;
    }
  };
  return async (hashes, kind) => {
    const found = new Map<string, Uint8Array>();
    const left = new Set(hashes);
    while (left.size > 0) {
      const asked = [...left].slice(0, maxBlocksPerRequest);
      const { blocks, missing } = await ask(asked);
      for (const { hash, text } of blocks)
        if (left.delete(hash))
          found.set(hash, kind === 'ids' ? Buffer.from(text) : Buffer.from(text.replaceAll('\n', ''), 'hex'));
      for (const hash of missing) left.delete(hash);
      // Neither found nor missing: an answer that does not go on would be asked for again for ever.
      if (asked.every((hash) => left.has(hash))) break;
    }
    return found;
  };
}
