/** Escapes user text so that Markdown shows it literally. Long text is truncated. */
export declare const escapeMarkdown: (text: string) => string;
/** Escaped user text in bold. */
export declare const bold: (text: string) => string;
/** Escaped user text in bold as a link. @param steps the path segments of the page */
export declare const boldLink: (text: string, base: string, ...steps: readonly string[]) => string;
/** Joins items: all, or of more than 20 the first 20 and the number of the others. */
export declare const joinTruncated: (items: readonly string[], between: string) => string;
