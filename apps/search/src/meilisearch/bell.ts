/** Something to wait at: for a while, or until somebody rings. A ring that nobody waits for is not lost. */
export interface Bell {
  ring(): void;
  wait(atMostMs: number): Promise<void>;
}

export const bellOf = (): Bell => {
  let rung = false;
  let answer = (): void => undefined;
  return {
    ring: () => {
      rung = true;
      answer();
    },
    wait: (atMostMs) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(() => answer(), atMostMs).unref();
        answer = () => {
          clearTimeout(timer);
          rung = false;
          resolve();
        };
        if (rung) answer();
      }),
  };
};
