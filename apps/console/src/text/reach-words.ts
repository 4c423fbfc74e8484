import type { Reach } from '@bunting/contracts';
import { formatCount } from './format-number.ts';

/** Whom a flag reaches in an environment, in a few characters for a list and as a sentence without its full stop. */
interface ReachWords {
  readonly short: string;
  /** for where `short` has no room; it claims no more than `short` */
  readonly shortest: string;
  readonly long: string;
}

function audienceWords({ audience, segments = [] }: Reach, segmentName: (id: number) => string): string {
  if (audience === 'segments') return segments.map(segmentName).join(', ');
  return audience === 'list' ? 'list' : '1 rule';
}

/** @param segmentName the name of a segment by its id */
export function reachWords(reach: Reach, segmentName: (id: number) => string): ReachWords {
  const { extent, rules, share, audience, variants } = reach;
  const words = audienceWords(reach, segmentName);
  const ofShare = share === undefined || share === 100 ? '' : `${share} % of `;
  const strategies =
    share === undefined ? formatCount(rules, 'rule') : audience === undefined ? `${share} %` : `${ofShare}${words}`;
  const divided = variants === 0 ? '' : `, divided into ${formatCount(variants, 'variant')}`;
  const isSimple = extent === 'all' || extent === 'none';
  const short = extent === 'off' ? 'off' : isSimple ? (extent === 'all' ? '100 %' : '0 %') : strategies;
  const isShareOfSome = !isSimple && extent !== 'off' && audience !== undefined && ofShare !== '';
  const shortest = isShareOfSome ? `≤ ${share} %` : short;
  return {
    short,
    shortest,
    long: extent === 'off' ? `off; when it is on: ${strategies}${divided}` : `on: ${short}${divided}`,
  };
}
