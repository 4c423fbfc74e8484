/** The text as a part of a `like` pattern that matches it literally. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, String.raw`\$&`);
