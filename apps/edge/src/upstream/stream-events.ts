import type { JsonReader } from './json-reader.ts';

/**
 * Server-sent events, of which one may have all features. By hand, since parsers hand over the text of an event: that of the first one would be in
 * memory several times, beside what is read of it. Here a long text is read as JSON while it arrives.
 */

export interface StreamEvent {
  readonly event: string;
  /** empty for a long text */
  readonly data: string;
  /** The text as JSON, once. @throws SyntaxError where it is none, and what the reader throws */
  readonly json: () => unknown;
}

const longText = 64 * 1024;

/** The text of an event as it arrives. */
function eventData(readJson: () => JsonReader) {
  let text = '';
  let reader: JsonReader | undefined;
  let failure: { readonly error: unknown } | undefined;
  const read = (piece: string): void => {
    reader ??= readJson();
    try {
      if (failure === undefined) reader.feed(piece);
    } catch (error) {
      failure = { error };
    }
  };
  return {
    add: (piece: string): void => {
      if (reader !== undefined) return read(piece);
      text += piece;
      if (text.length < longText) return;
      read(text);
      text = '';
    },
    asEvent: (event: string): StreamEvent => ({
      event,
      data: text,
      json: () => {
        if (reader === undefined) read(text);
        if (failure !== undefined) throw failure.error;
        return reader?.end();
      },
    }),
  };
}

export interface StreamEventsOptions {
  readonly readJson: () => JsonReader;
  readonly onEvent: (event: StreamEvent) => void;
  /** the most characters of an event */
  readonly maxLength: number;
  /** called once an event is longer, after which nothing is read */
  readonly onTooLong: () => void;
}

/** @returns a function that takes the next piece of a stream */
export function streamEvents({ readJson, onEvent, maxLength, onTooLong }: StreamEventsOptions) {
  let type = '';
  let data: ReturnType<typeof eventData> | undefined;
  /** the beginning of a line that is no text of the event, or not known to be */
  let line = '';
  let isInData = false;
  let length = 0;
  let isAfterReturn = false;
  let isTooLong = false;

  const startData = (): ReturnType<typeof eventData> => {
    if (data === undefined) return (data = eventData(readJson));
    data.add('\n');
    return data;
  };
  const take = (piece: string): void => {
    length += piece.length;
    if (isInData) return data?.add(piece);
    line += piece;
    if (!line.startsWith('data:') || line.length === 'data:'.length) return;
    startData().add(line.slice(line[5] === ' ' ? 6 : 5));
    line = '';
    isInData = true;
  };
  const endLine = (): void => {
    if (isInData) {
      isInData = false;
      return;
    }
    const [field] = line.split(':', 1) as [string];
    if (field === 'event') type = line.slice(field.length + 1).replace(/^ /, '');
    else if (field === 'data') startData();
    const isEnd = line === '';
    line = '';
    if (!isEnd) return;
    const event = data?.asEvent(type);
    [type, data, length] = ['', undefined, 0];
    if (event !== undefined) onEvent(event);
  };

  return (text: string): void => {
    const lineEnd = /[\r\n]/g;
    for (let at = 0; at < text.length && !isTooLong;) {
      if (isAfterReturn && text[at] === '\n') at++;
      isAfterReturn = false;
      lineEnd.lastIndex = at;
      const end = lineEnd.exec(text);
      take(text.slice(at, end?.index));
      if (length > maxLength) {
        isTooLong = true;
        return onTooLong();
      }
      if (end === null) return;
      endLine();
      isAfterReturn = end[0] === '\r';
      at = end.index + 1;
    }
  };
}
