interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

function formatCount(count: number): string {
  return count.toLocaleString('en');
}

export interface ProgressOptions {
  readonly total: number;
  /** what is counted, in the plural */
  readonly what: string;
  /** milliseconds between two lines where there is no terminal */
  readonly lineIntervalMs?: number;
}

/** A bar on a terminal; elsewhere a line every two seconds, which reads well in a log. */
export function progressDisplay(
  screen: Screen,
  { total, what, lineIntervalMs = 2_000 }: ProgressOptions,
  now: () => number = Date.now,
) {
  const startedAt = now();
  let lastAt = startedAt;
  let lastShown = -1;
  const sentence = (done: number): string => {
    const seconds = (now() - startedAt) / 1_000;
    const left = done === 0 || done === total ? '' : `, about ${Math.ceil((seconds / done) * (total - done))} s left`;
    return `${formatCount(done)} of ${formatCount(total)} ${what}${left}`;
  };
  const bar = (done: number): string => {
    const text = sentence(done);
    const width = Math.max(10, Math.min(40, (screen.columns ?? 80) - text.length - 4));
    const full = total === 0 ? width : Math.floor((done / total) * width);
    return `\r[${'#'.repeat(full)}${' '.repeat(width - full)}] ${text}\u001b[K`;
  };
  const show = (done: number): void => {
    lastShown = done;
    lastAt = now();
    screen.write(screen.isTTY === true ? bar(done) : `${sentence(done)}\n`);
  };
  if (screen.isTTY === true) show(0);
  return {
    to: (done: number): void => {
      if (screen.isTTY === true || done === total || now() - lastAt >= lineIntervalMs) show(done);
    },
    /** Ends the progress line, so that later output begins on a new line. */
    end: (): void => {
      if (screen.isTTY === true && lastShown >= 0) screen.write('\n');
    },
  };
}
