import { Agent, get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

/** A server-sent event as it arrived. */
export interface ReceivedEvent {
  /** the type of the event; `message` if it names none */
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

export interface OpenEventStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** the events that have arrived, oldest first */
  readonly events: readonly ReceivedEvent[];
  /** the comments that have arrived */
  readonly comments: readonly string[];
  /** everything that has arrived */
  readonly text: () => string;
  /** settles when the stream has ended, whichever side ended it */
  readonly ended: Promise<void>;
  readonly isEnded: () => boolean;
  /** whether the server has ended it, rather than broken it off */
  readonly isComplete: () => boolean;
  readonly close: () => void;
  /** Reads no further until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
}

function eventIn(block: string): ReceivedEvent {
  let [event, id, data]: [string, string | undefined, string] = ['message', undefined, ''];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (line.startsWith('event:')) event = value;
    else if (line.startsWith('id:')) id = value;
    else if (line.startsWith('data:')) data += value;
  }
  return { event, id, data };
}

/** Opens a stream of server-sent events on a connection of its own. Resolves with the head of the response, whatever its status. */
export function openEventStream(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  onEvent: (event: ReceivedEvent) => void = () => undefined,
): Promise<OpenEventStream> {
  return new Promise((resolve, reject) => {
    const agent = new Agent();
    const request = get(url, { headers: { accept: 'text/event-stream', ...headers }, agent }, (response) => {
      resolve(readEvents(response, () => request.destroy(), onEvent));
    });
    request.once('error', reject);
  });
}

function readEvents(
  response: IncomingMessage,
  close: () => void,
  onEvent: (event: ReceivedEvent) => void,
): OpenEventStream {
  const events: ReceivedEvent[] = [];
  const comments: string[] = [];
  let [receivedText, isEnded] = ['', false];
  /** The chunks of the last block, which is incomplete. They are joined when the block is complete, so that it is searched once. */
  let incompleteBlock: string[] = [];
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    receivedText += chunk;
    const isSeparatorSplit = incompleteBlock.at(-1)?.endsWith('\n') === true && chunk.startsWith('\n');
    incompleteBlock.push(chunk);
    if (!isSeparatorSplit && !chunk.includes('\n\n')) return;
    const blocks = incompleteBlock.join('').split('\n\n');
    incompleteBlock = [blocks.pop() ?? ''];
    for (const block of blocks) {
      if (block.startsWith(':')) {
        comments.push(block);
        continue;
      }
      const event = eventIn(block);
      events.push(event);
      onEvent(event);
    }
  });
  response.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    response.once('close', () => {
      isEnded = true;
      resolve();
    });
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    comments,
    ended,
    close,
    text: () => receivedText,
    isEnded: () => isEnded,
    isComplete: () => response.complete,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
  };
}
