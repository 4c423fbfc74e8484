const writtenFromTheRight = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * A name for a sentence that is plain text, such as a title or a message. One that is written from right to left keeps its own order, with
 * its numbers and brackets, and leaves that of the sentence alone (Unicode's first strong isolate). An element has `<bdi>` instead.
 */
export function isolated(name: string): string {
  return writtenFromTheRight.test(name) ? `\u2068${name}\u2069` : name;
}
