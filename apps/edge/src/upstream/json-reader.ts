/** Reads JSON piece by piece. Both throw a SyntaxError where it is no complete JSON. */
export interface JsonReader {
  readonly feed: (piece: string) => void;
  readonly end: () => unknown;
}

/** Parses all pieces at the end. */
export function wholeJson(): JsonReader {
  const pieces: string[] = [];
  return { feed: (piece) => void pieces.push(piece), end: () => JSON.parse(pieces.join('')) };
}
