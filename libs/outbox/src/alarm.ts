/** Something to wait at: for a while, or until somebody rings. A ring that nobody waits for is not lost. */
export interface Alarm {
  ring(): void;
  wait(atMostMs: number): Promise<void>;
}

export const alarm = (): Alarm => {
  let rung = false;
  let waiting: (() => void) | undefined;
  return {
    ring: () => {
      rung = true;
      waiting?.();
    },
    wait: (atMostMs) =>
      new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          waiting = undefined;
          rung = false;
          resolve();
        };
        const timer = setTimeout(done, atMostMs).unref();
        if (rung) done();
        else waiting = done;
      }),
  };
};
