import type { Log } from '@bunting/runtime';
import type { LogMarkStore } from './log-mark-store.ts';
import { type LogPage, positionInRestoredLog } from './log-position.ts';

interface FollowOptions {
  readonly marks: LogMarkStore;
  readonly readLog: (after: number, limit: number) => Promise<LogPage>;
  readonly log: Log;
}

/**
 * Continues from where the log agrees with its marks, after a position was found to be of another log: everybody who has read on is moved there,
 * unless another process has moved them.
 * @param generation of the marks when the position was read
 */
export async function followRestoredLog(
  { marks, readLog, log }: FollowOptions,
  generation: number,
  position: number,
): Promise<void> {
  const restored = await positionInRestoredLog(await marks.upTo(position), readLog);
  const { head, headHash } = await readLog(0, 0);
  if (await marks.restore(generation, restored, { position: head, hash: headHash }))
    log.warn(
      `The event log differs from what it was, as after a restored backup. What comes after event ${restored.position} is delivered to integrations again, and people are told of what is new in it.`,
    );
}
