import { hash } from 'node:crypto';
import type { Tx } from '@bunting/database';
import { LRUCache } from 'lru-cache';
import type { SearchableTexts } from '../search/event-filters.ts';
import { partitionLength } from './retention-store.ts';

/** The parts of an event's text, each in a column `<part>_text` of `event_search`. Their places are stored in `event_text.part`. */
export const textParts = ['creator', 'constant', 'varying'] as const;
export type TextPart = (typeof textParts)[number];

/** A part of an event's text, and what identifies it among all texts of a partition. */
interface DigestedText {
  readonly digest: string;
  readonly text: string;
}
/** The texts of an event; null for a part without text. */
export type DigestedTexts = Readonly<Record<TextPart, DigestedText | null>>;

/** The texts with their digests: the first half of the SHA-256 of part and text, written as a UUID. */
export function withDigests(texts: SearchableTexts): DigestedTexts {
  const digested = (part: TextPart): DigestedText | null => {
    const text = texts[part];
    if (text === '') return null;
    const hex = hash('sha256', `${part}\0${text}`, 'hex');
    return {
      digest: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`,
      text,
    };
  };
  return { creator: digested('creator'), constant: digested('constant'), varying: digested('varying') };
}

/** A text that the log does not have yet. */
export interface NewText extends DigestedText {
  readonly id: number;
  /** the first event that has it */
  readonly event: number;
  readonly part: number;
}

const selectStored =
  'select id, digest, event from event_text where digest = any($1::uuid[]) and event >= $2 and event < $3';

function partitionOf(event: number): number {
  return Math.floor(event / partitionLength);
}

/** What identifies a text in the log. @param event an event that has it */
function keyOf(event: number, { digest }: Pick<DigestedText, 'digest'>): string {
  return `${partitionOf(event)} ${digest}`;
}

const maxRemembered = 10_000;

/** The state of the log on which the ids of its texts depend. */
interface LogState {
  /** the hash of the last event */
  readonly hash: string;
  readonly droppedId: number;
}

/**
 * The ids of texts that were looked up or stored, which need not be looked up again. They hold while the log is what the last append has left: not
 * after that was rolled back, after another process has appended, after events were dropped with their texts, or in a restored log.
 */
export function rememberedTexts() {
  const ids = new LRUCache<string, number>({ max: maxRemembered });
  let state: LogState | undefined;
  return {
    /** The ids in this state of the log, to be looked up and added to until `keep`: if that is not called, they are forgotten. */
    of: ({ hash, droppedId }: LogState): LRUCache<string, number> => {
      if (state?.hash !== hash || state.droppedId !== droppedId) ids.clear();
      state = undefined;
      return ids;
    },
    keep: (after: LogState): void => void (state = after),
  };
}
export type RememberedTexts = ReturnType<typeof rememberedTexts>;

/**
 * The ids of the texts of events, by part, and the texts among them that are new in the partition of their event.
 * The caller has locked the head of the log. @param last the id of the last text
 */
export async function resolveTexts(
  { query }: Tx,
  events: readonly { readonly id: number; readonly texts: DigestedTexts }[],
  last: number,
  remembered?: LRUCache<string, number>,
) {
  const known = new Map<string, number>();
  const missing = new Set<string>();
  for (const { id: event, texts } of events) {
    for (const part of textParts) {
      const text = texts[part];
      if (text === null) continue;
      const key = keyOf(event, text);
      const id = remembered?.get(key);
      if (id === undefined) missing.add(text.digest);
      else known.set(key, id);
    }
  }
  if (missing.size > 0) {
    const partitions = events.map(({ id }) => partitionOf(id));
    const stored = await query<{ id: number; digest: string; event: number }>(selectStored, [
      [...missing],
      Math.min(...partitions) * partitionLength,
      (Math.max(...partitions) + 1) * partitionLength,
    ]);
    for (const { id, digest, event } of stored) known.set(keyOf(event, { digest }), id);
  }
  const added: NewText[] = [];
  const idOf = (event: number, part: TextPart, text: DigestedText | null): number | null => {
    if (text === null) return null;
    const key = keyOf(event, text);
    const found = known.get(key);
    if (found !== undefined) return found;
    const id = last + added.length + 1;
    known.set(key, id);
    added.push({ ...text, id, event, part: textParts.indexOf(part) });
    return id;
  };
  const ids = events.map(({ id, texts }) => ({
    creatorText: idOf(id, 'creator', texts.creator),
    constantText: idOf(id, 'constant', texts.constant),
    varyingText: idOf(id, 'varying', texts.varying),
  }));
  if (remembered !== undefined) for (const [key, id] of known) remembered.set(key, id);
  return { ids, added };
}

/** Between two texts in a parameter. No folded text contains it, so texts need no escapes as elements of an array. */
const elementSeparator = '\u001c';

/** SQL: inserts new texts from the parameters from this number on. */
export function insertTextsSql(first: number): string {
  return String.raw`insert into event_text (id, event, part, digest, text)
    select * from unnest($${first}::bigint[], $${first + 1}::bigint[], $${first + 2}::smallint[], $${first + 3}::uuid[],
      string_to_array($${first + 4}, E'\x1c'))`;
}

/** The parameters of `insertTextsSql`. */
export function newTextValues(added: readonly NewText[]): readonly unknown[] {
  return [
    added.map(({ id }) => id),
    added.map(({ event }) => event),
    added.map(({ part }) => part),
    added.map(({ digest }) => digest),
    added.map(({ text }) => text).join(elementSeparator),
  ];
}
