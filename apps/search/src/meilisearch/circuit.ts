/** Says whether to ask a server that may be in trouble. Who asks it tells how that went. */
export interface Circuit {
  readonly isOpen: boolean;
  succeeded(): void;
  failed(): void;
}

const failuresToOpen = 3;

/**
 * Opens after three failures in a row, and closes with the first success. While it is open no search asks the server: whoever
 * watches it goes on asking, so that no user waits for it.
 */
export const startCircuit = (changed: (isOpen: boolean) => void): Circuit => {
  let failures = 0;
  return {
    get isOpen() {
      return failures >= failuresToOpen;
    },
    succeeded: () => {
      const wasOpen = failures >= failuresToOpen;
      failures = 0;
      if (wasOpen) changed(false);
    },
    failed: () => {
      failures++;
      if (failures === failuresToOpen) changed(true);
    },
  };
};
