/** A log that records its messages by level. */
export const recordingLog = () => {
  const warnings: string[] = [];
  const errors: string[] = [];
  // As in pino, the message is the only argument, or follows an object.
  const recorderOf =
    (messages: string[]) =>
    (...line: unknown[]) =>
      void messages.push(String(line.at(-1)));
  return { warnings, errors, log: { warn: recorderOf(warnings), error: recorderOf(errors) } };
};
