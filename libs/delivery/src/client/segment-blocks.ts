import {
  type ClientSegmentBlocks,
  GetClientSegmentBlocks,
  maxBlockBytesPerAnswer,
  segmentListsVersion,
} from '@bunting/contracts';
import { jsonContentType } from '@bunting/http';
import type { Delivery } from '../delivery.ts';
import { deltaClientSpec, type SdkHandler, viewAfterCatchUp } from '../sdk-handler.ts';

/** Responds with blocks of the lists that the segments of a token have, or had within the last minute, to edges that lack them. */
export function segmentBlocksHandler(delivery: Delivery): SdkHandler {
  const viewFor = viewAfterCatchUp(delivery);
  return async (_request, response, { caller, body }) => {
    const { hashes } = body as { readonly hashes: readonly string[] };
    const query = { clientSpec: deltaClientSpec, segmentLists: segmentListsVersion };
    const { view } = await viewFor(GetClientSegmentBlocks, response, caller, query);
    const blocks: ClientSegmentBlocks['blocks'] = [];
    const missing = new Set(hashes);
    let bytes = 0;
    for (const block of view.blocksAmong(hashes)) {
      missing.delete(block.hash);
      bytes += block.text.length;
      if (blocks.length === 0 || bytes <= maxBlockBytesPerAnswer) blocks.push(block);
    }
    const reply: ClientSegmentBlocks = { blocks, missing: [...missing] };
    return response.header('content-type', jsonContentType).send(JSON.stringify(reply));
  };
}
