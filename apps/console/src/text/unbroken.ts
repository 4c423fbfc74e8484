/** A text in which no line ends between a number and its percent sign. */
export function unbroken(text: string): string {
  return text.replace(/(\d) %/g, '$1\u00a0%');
}
