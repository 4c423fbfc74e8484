// Own code instead of a CSV library: gateway and console read the first column alone, by the same rules, with the line of each fault, within
// bounded memory, and for a million lines in a fraction of a second.
import { invalid } from '../errors.ts';
import { isJsonObject } from '../values.ts';
import { maxSegmentIdLength, maxSegmentListSize, type SegmentListContentType } from './segment-lists.ts';

/** The longest line, in characters: a line of a CSV may have many columns. */
const maxLineLength = 64 * 1024;

function refuse(line: number, fault: string): never {
  throw invalid(`Line ${line} of the \`/body\` property ${fault}.`, '/body');
}

/** Line breaks and other control characters: the ids of a list are stored a line each, and what nobody sees is a mistake. */
const hasControlCharacter = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** An id without white space around it, as SDKs compare it; undefined for an empty one. @throws Refusal that names the line */
function validId(text: string, line: number): string | undefined {
  const id = text.trim();
  if (id === '') return undefined;
  if (id.length > maxSegmentIdLength) refuse(line, `has an id of more than ${maxSegmentIdLength} characters`);
  if (hasControlCharacter.test(id)) refuse(line, 'has an id with a control character');
  if (!id.isWellFormed()) refuse(line, 'has an id with half of a surrogate pair');
  return id;
}

type LineReader = (text: string, line: number) => string | undefined;

function ndjsonReader(contextName: string): LineReader {
  return (text, line) => {
    if (text.trim() === '') return undefined;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      refuse(line, 'must be JSON');
    }
    const id = isJsonObject(value) && Object.hasOwn(value, contextName) ? value[contextName] : value;
    if (Number.isSafeInteger(id)) return String(id);
    if (typeof id !== 'string')
      refuse(line, `must be a JSON text, or an object with a text as its member ${JSON.stringify(contextName)}`);
    return validId(id, line) ?? refuse(line, 'has an empty id');
  };
}

/**
 * Where a record of a CSV ends (RFC 4180): its line break, or -1 where the text ends before it does. A quote has a meaning only at the start
 * of a field.
 * @param line the number of its first line
 */
function endOfRecord(text: string, start: number, line: number): number {
  const skip = (from: number, skipped: string): number => {
    while (from < text.length && skipped.includes(text.charAt(from))) from++;
    return from;
  };
  for (let at = start; ; at++) {
    at = skip(at, ' \t');
    if (text[at] === '"') {
      at = text.indexOf('"', at + 1);
      while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
      if (at < 0) return -1;
      at = skip(at + 1, ' \t\r');
      if (at < text.length && text[at] !== ',' && text[at] !== '\n') refuse(line, 'has text after a closing quote');
    } else while (at < text.length && text[at] !== ',' && text[at] !== '\n') at++;
    if (at >= text.length) return -1;
    if (text[at] === '\n') return at;
  }
}

/** The first column of a complete record of a CSV. */
function firstColumn(record: string): string {
  const quoted = /^[ \t]*"([^"]*(?:""[^"]*)*)"/.exec(record)?.[1];
  return quoted?.replaceAll('""', '"') ?? record.split(',', 1)[0] ?? '';
}

function csvReader(contextName: string): LineReader {
  let isFirst = true;
  return (record, line) => {
    const column = firstColumn(record);
    if (column.trim() === '') return undefined;
    const isHeader = isFirst && column.trim() === contextName;
    isFirst = false;
    return isHeader ? undefined : validId(column, line);
  };
}

/**
 * Reads the ids of a list out of a text that comes in pieces: the first column of a CSV, whose first line may name the context field; JSON
 * texts, or objects with the context field, a line each; or plain lines. Empty lines are left out.
 * @throws Refusal `ValidationError` that names the first line with a fault
 */
export function segmentIdReader(contentType: SegmentListContentType, contextName: string) {
  const isCsv = contentType === 'text/csv';
  const readLine: LineReader = isCsv
    ? csvReader(contextName)
    : contentType === 'text/plain'
      ? validId
      : ndjsonReader(contextName);
  let pending = '';
  let line = 0;
  let count = 0;

  const take = (record: string, ids: string[]): void => {
    line++;
    if (record.length > maxLineLength) refuse(line, `has more than ${maxLineLength} characters`);
    const id = readLine(record.endsWith('\r') ? record.slice(0, -1) : record, line);
    // A record with quotes may span lines.
    if (isCsv) for (let at = record.indexOf('\n'); at >= 0; at = record.indexOf('\n', at + 1)) line++;
    if (id === undefined) return;
    if (++count > maxSegmentListSize)
      refuse(line, `has one id more than the ${maxSegmentListSize} that a list may have`);
    ids.push(id);
  };

  return {
    /** the ids so far */
    get count(): number {
      return count;
    },
    /** The ids in the next piece of the text. */
    read: (piece: string): string[] => {
      const text = pending + piece;
      const ids: string[] = [];
      let start = 0;
      let nextQuote = isCsv ? text.indexOf('"') : -1;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
        if (nextQuote >= 0 && nextQuote < start) nextQuote = text.indexOf('"', start);
        // Within quotes a line break is part of the record.
        if (nextQuote >= 0 && nextQuote < end) end = endOfRecord(text, start, line + 1);
        if (end < 0) break;
        take(text.slice(start, end), ids);
        start = end + 1;
      }
      pending = text.slice(start);
      if (pending.length > maxLineLength) refuse(line + 1, `has more than ${maxLineLength} characters`);
      return ids;
    },
    /** The ids in what is left after the last piece. */
    end: (): string[] => {
      const ids: string[] = [];
      if (isCsv && pending.includes('"') && endOfRecord(`${pending}\n`, 0, line + 1) < 0)
        refuse(line + 1, 'has a quote that is not closed');
      if (pending !== '') take(pending, ids);
      pending = '';
      return ids;
    },
  };
}
