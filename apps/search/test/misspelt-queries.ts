/* Names of flags as teams write them, and what people type who look for them. Both follow from a number, so they are the same in each run. */

/** How a person may miss the name of a flag while typing it. */
export const misspellings = [
  'one typing error',
  'an error in two words',
  'other order, one error',
  'camelCase, typed as words, one error',
  'still typing, one error',
] as const;
export type Misspelling = (typeof misspellings)[number];

export interface MisspeltQuery {
  readonly kind: Misspelling;
  readonly query: string;
  /** the name of the flag that is looked for */
  readonly wanted: string;
}

const areas =
  'account alerting analytics billing booking calendar campaign catalog checkout comments dashboard delivery discount documents events export feedback gateway identity inbox insights inventory invoice journey kubernetes loyalty mailing marketing messaging mobile navigation newsletter onboarding orders payment permissions playground pricing privacy profile promotion publishing purchase reporting returns roaming scheduling search security shipping signup storage subscription support telemetry translation upload warehouse wishlist workflow';
const subjects =
  'address archive attachment audience banner basket bundle button carousel cluster column contact coupon currency customer deadline device download draft drawer editor endpoint feed filter folder form graph header history image keyboard language layout library listing location machine margin member menu network notification page panel password picture player policy preview queue receipt region request schema session sidebar snapshot summary template terminal timeline token toolbar tracker version video voucher widget';
const aspects =
  'animation autosave backoff batching caching cleanup compression consent counting encryption expiry fallback grouping hashing highlight indexing lazyload limits logging merging migration ordering pagination parsing pinning polling prefetch ranking recovery redesign rendering replication resizing retries rollback rounding rotation sampling sharding shortcuts sorting streaming suggestions throttling timeout tracing truncation validation verification warmup wizard';
const lists = [areas, subjects, aspects].map((list) => list.split(' '));

/** Numbers from 0 to below 1 that follow from a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function capitalised(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

const spellings: readonly ((words: readonly string[]) => string)[] = [
  (words) => words.join('-'),
  ([first = '', ...others]) => first + others.map(capitalised).join(''),
  (words) => words.join('_'),
  (words) => words.join('.'),
];
const isCamelCase = (nth: number): boolean => nth % spellings.length === 1;

const combinations = lists.reduce((product, { length }) => product * length, 1);
/** A prime that is in none of the lengths of the lists, so that its multiples pass through all combinations. */
const step = 100_003;

/** The words of the nth flag's name; no two flags have the same. */
function wordsOfFlag(nth: number): readonly string[] {
  let rest = (nth * step) % combinations;
  return lists.map((list) => {
    const word = list[rest % list.length] as string;
    rest = Math.floor(rest / list.length);
    return word;
  });
}

/** The name of the nth flag: three words, in kebab-case, camelCase, snake_case and dotted case by turns. */
export function flagName(nth: number): string {
  if (nth >= combinations) throw new RangeError(`There are ${combinations} names.`);
  return (spellings[nth % spellings.length] as (words: readonly string[]) => string)(wordsOfFlag(nth));
}

/** Makes one typing error after the first letter: exchanges two letters, or leaves out, doubles or replaces one. */
function withTypingError(word: string, random: () => number): string {
  const below = (limit: number): number => Math.floor(random() * limit);
  const at = 1 + below(word.length - 2);
  const [letter = '', next = ''] = word.slice(at);
  const changed = [next + letter, next, letter + letter + next, 'etaoinsr'.charAt(below(8)) + next][below(4)] as string;
  const typed = word.slice(0, at) + changed + word.slice(at + 2);
  return typed === word ? withTypingError(word, random) : typed;
}

function typedText(kind: Misspelling, words: readonly string[], random: () => number): string {
  const place = Math.floor(random() * words.length);
  const withErrorAt = (wrong: readonly number[]): string[] =>
    words.map((word, nth) => (wrong.includes(nth) ? withTypingError(word, random) : word));
  switch (kind) {
    case 'one typing error':
    case 'camelCase, typed as words, one error':
      return withErrorAt([place]).join(' ');
    case 'an error in two words':
      return withErrorAt([place, (place + 1) % words.length]).join(' ');
    case 'other order, one error': {
      const [first = '', ...others] = withErrorAt([place]);
      return [...others, first].join(' ');
    }
    case 'still typing, one error': {
      const typed = withErrorAt([place % (words.length - 1)]);
      const last = typed.pop() ?? '';
      return [...typed, last.slice(0, Math.max(3, Math.ceil(last.length * 0.6)))].join(' ');
    }
  }
}

/** What people type who look for one of so many flags: the same number of queries of each kind. */
export function misspeltQueries(flags: number, count = 200): readonly MisspeltQuery[] {
  const random = seededRandom(34);
  return Array.from({ length: count }, (_, nth) => {
    const kind = misspellings[nth % misspellings.length] as Misspelling;
    let flag = Math.floor(random() * flags);
    while (isCamelCase(flag) !== kind.startsWith('camelCase')) flag = (flag + 1) % flags;
    return { kind, query: typedText(kind, wordsOfFlag(flag), random), wanted: flagName(flag) };
  });
}
